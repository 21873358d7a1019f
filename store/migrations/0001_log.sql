-- P27: the log. The id of a row is its stream's number × 2^32 + its seq.
CREATE TABLE streams (
  number INTEGER PRIMARY KEY CHECK (number BETWEEN 1 AND 2147483647),
  name   TEXT NOT NULL UNIQUE,
  v      INTEGER NOT NULL
) STRICT;

CREATE TABLE facts (
  id           INTEGER PRIMARY KEY,
  at           INTEGER NOT NULL,
  kind         TEXT NOT NULL,
  cause        INTEGER NOT NULL,
  plan_version INTEGER NOT NULL,
  node         TEXT NOT NULL,
  attempt      INTEGER NOT NULL,
  actor        TEXT NOT NULL,
  data         BLOB,
  salt         BLOB,
  data_hash    BLOB NOT NULL,
  hash         BLOB NOT NULL
);

-- Without this trigger INSERT OR REPLACE would slip past the one on DELETE.
CREATE TRIGGER facts_next BEFORE INSERT ON facts
WHEN (SELECT id FROM facts WHERE id <= (NEW.id | 4294967295) ORDER BY id DESC LIMIT 1) IS NOT NEW.id - 1
  AND (NEW.id & 4294967295 <> 1
    OR EXISTS (SELECT 1 FROM facts WHERE id BETWEEN NEW.id >> 32 << 32 AND NEW.id | 4294967295)
    OR NOT EXISTS (SELECT 1 FROM streams WHERE number = NEW.id >> 32))
  OR NEW.id & 4294967295 = 0
BEGIN SELECT RAISE(ABORT, 'facts: not the next id of its stream'); END;

CREATE TRIGGER facts_erase_only BEFORE UPDATE ON facts
WHEN NEW.salt IS NOT NULL OR NEW.data IS NOT NULL
  OR NEW.id <> OLD.id OR NEW.at <> OLD.at OR NEW.kind <> OLD.kind OR NEW.cause <> OLD.cause
  OR NEW.plan_version <> OLD.plan_version OR NEW.node <> OLD.node OR NEW.attempt <> OLD.attempt
  OR NEW.actor <> OLD.actor OR NEW.data_hash <> OLD.data_hash OR NEW.hash <> OLD.hash
BEGIN SELECT RAISE(ABORT, 'facts: only salt and data can be erased'); END;

CREATE TRIGGER facts_keep BEFORE DELETE ON facts
BEGIN SELECT RAISE(ABORT, 'facts: append only'); END;

CREATE TRIGGER streams_next BEFORE INSERT ON streams
WHEN EXISTS (SELECT 1 FROM streams WHERE number = NEW.number OR name = NEW.name)
BEGIN SELECT RAISE(ABORT, 'streams: append only'); END;
CREATE TRIGGER streams_fixed BEFORE UPDATE ON streams
BEGIN SELECT RAISE(ABORT, 'streams: append only'); END;
CREATE TRIGGER streams_keep BEFORE DELETE ON streams
BEGIN SELECT RAISE(ABORT, 'streams: append only'); END;

CREATE VIEW facts_v AS
SELECT f.id, s.name AS stream, f.id & 4294967295 AS seq, s.v AS v,
  CASE WHEN s.name LIKE 'run/%' THEN substr(s.name, 5) ELSE '' END AS run,
  strftime('%Y-%m-%dT%H:%M:%S', f.at / 1000000, 'unixepoch') || printf('.%06dZ', f.at % 1000000) AS at,
  f.kind, f.cause, f.plan_version, f.node, f.attempt, f.actor, f.data, f.salt, f.data_hash,
  coalesce((SELECT p.hash FROM facts p WHERE p.id = f.id - 1), zeroblob(32)) AS prev_hash, f.hash
FROM facts f JOIN streams s ON s.number = f.id >> 32;

-- P36a: signed heads. heads lists what changed since the seal before, as the
-- length-prefixed encoding of seal.go.
CREATE TABLE seals (
  n     INTEGER PRIMARY KEY,
  at    INTEGER NOT NULL,
  prev  BLOB NOT NULL,
  heads BLOB NOT NULL,
  root  BLOB NOT NULL,
  key   BLOB NOT NULL,
  sig   BLOB NOT NULL
) STRICT;
CREATE TRIGGER seals_next BEFORE INSERT ON seals
WHEN NEW.n <> coalesce((SELECT max(n) FROM seals), 0) + 1
BEGIN SELECT RAISE(ABORT, 'seals: append only'); END;
CREATE TRIGGER seals_fixed BEFORE UPDATE ON seals
BEGIN SELECT RAISE(ABORT, 'seals: append only'); END;
CREATE TRIGGER seals_keep BEFORE DELETE ON seals
BEGIN SELECT RAISE(ABORT, 'seals: append only'); END;
