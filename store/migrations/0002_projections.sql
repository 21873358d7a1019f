-- P33: projected in the transaction of their facts.
CREATE TABLE approvals (
  id           TEXT PRIMARY KEY,
  run          TEXT NOT NULL,
  node         TEXT NOT NULL,
  seq          INTEGER NOT NULL,
  state        TEXT NOT NULL,
  requested_at INTEGER NOT NULL,
  expires_at   INTEGER NOT NULL,
  decided_at   INTEGER NOT NULL,
  actors       TEXT NOT NULL,
  reason       TEXT NOT NULL,
  tool         TEXT NOT NULL,
  impact       INTEGER NOT NULL,
  requester    TEXT NOT NULL,
  hash         TEXT NOT NULL,
  self         INTEGER NOT NULL,
  asks         TEXT NOT NULL
) STRICT;
CREATE INDEX approvals_by_state ON approvals (state, requested_at);
CREATE INDEX approvals_by_run ON approvals (run);

CREATE TABLE idempotency (
  owner     TEXT NOT NULL,
  key       TEXT NOT NULL,
  run       TEXT NOT NULL,
  body_hash TEXT NOT NULL,
  PRIMARY KEY (owner, key)
) STRICT;
CREATE INDEX idempotency_by_run ON idempotency (run);

-- A run as lists show it; seq is the fact it was folded up to.
CREATE TABLE runs (
  id         TEXT PRIMARY KEY,
  owner      TEXT NOT NULL,
  seq        INTEGER NOT NULL,
  status     TEXT NOT NULL,
  code       TEXT NOT NULL,
  goal       TEXT NOT NULL,
  intent     INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  ended_at   INTEGER NOT NULL,
  erased     INTEGER NOT NULL DEFAULT 0,
  summary    BLOB NOT NULL
) STRICT;
CREATE INDEX runs_newest ON runs (created_at, id);
CREATE INDEX runs_by_status ON runs (status);

-- P20: every gate decision, to try a draft policy on; data stays in the fact.
CREATE TABLE calls (
  fact     INTEGER PRIMARY KEY,
  run      TEXT NOT NULL,
  seq      INTEGER NOT NULL,
  at       INTEGER NOT NULL,
  node     TEXT NOT NULL,
  attempt  INTEGER NOT NULL,
  tool     TEXT NOT NULL,
  decision TEXT NOT NULL,
  impact   INTEGER NOT NULL
) STRICT;
CREATE TABLE call_cursors (
  stream INTEGER PRIMARY KEY,
  seq    INTEGER NOT NULL
) STRICT;

CREATE TABLE blobs (
  sha256 TEXT PRIMARY KEY,
  data   BLOB NOT NULL
) STRICT;
CREATE TABLE run_blobs (
  run    TEXT NOT NULL,
  sha256 TEXT NOT NULL REFERENCES blobs (sha256),
  PRIMARY KEY (run, sha256)
) STRICT;
CREATE INDEX run_blobs_by_sha ON run_blobs (sha256);

-- P29: what runs pin by hash.
CREATE TABLE contents (
  hash TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  data BLOB NOT NULL
) STRICT;

-- P32: disposable.
CREATE TABLE snapshots (
  run     TEXT PRIMARY KEY,
  seq     INTEGER NOT NULL,
  version INTEGER NOT NULL,
  data    BLOB NOT NULL
) STRICT;
