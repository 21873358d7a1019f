-- P33: the versions of the policy, projected in the transaction of their facts
-- (policy.published in admin). The documents are in contents.
CREATE TABLE policies (
  version INTEGER PRIMARY KEY,
  seq     INTEGER NOT NULL,
  hash    TEXT NOT NULL,
  text    TEXT NOT NULL,
  at      INTEGER NOT NULL,
  actor   TEXT NOT NULL,
  reason  TEXT NOT NULL,
  base    INTEGER NOT NULL
) STRICT;

-- Facts of before there were versions name the hash alone, as "policy".
INSERT INTO policies (version, seq, hash, text, at, actor, reason, base)
SELECT row_number() OVER (ORDER BY f.id), f.id & 4294967295,
  coalesce(json_extract(CAST(f.data AS TEXT), '$.policy'), ''), '', f.at, f.actor, '', row_number() OVER (ORDER BY f.id) - 1
FROM facts f JOIN streams s ON s.number = f.id >> 32
WHERE s.name = 'admin' AND f.kind = 'policy.published' ORDER BY f.id;

CREATE INDEX calls_by_tool ON calls (tool, at);
CREATE INDEX calls_newest ON calls (at, fact);
