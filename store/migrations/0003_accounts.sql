-- P33: ordinary tables; they prove nothing. Secrets are SHA-256 only.
CREATE TABLE users (
  id         INTEGER PRIMARY KEY,
  name       TEXT NOT NULL UNIQUE,
  roles      TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE TABLE signins (
  hash       BLOB PRIMARY KEY,
  user       INTEGER NOT NULL REFERENCES users (id),
  expires_at INTEGER NOT NULL
) STRICT;
CREATE TABLE tokens (
  id         TEXT PRIMARY KEY,
  name       TEXT NOT NULL,
  hash       BLOB NOT NULL UNIQUE,
  ceiling    INTEGER NOT NULL,
  user       INTEGER NOT NULL REFERENCES users (id),
  created_at INTEGER NOT NULL,
  revoked_at INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE sessions (
  hash       BLOB PRIMARY KEY,
  data       BLOB NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX sessions_by_expiry ON sessions (expires_at);
