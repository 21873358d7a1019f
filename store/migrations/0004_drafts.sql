-- P33: drafts are ordinary rows and prove nothing. doc is what is edited, word
-- for word; view is what the editor wants back (places of steps); base is free.
CREATE TABLE drafts (
  id         TEXT PRIMARY KEY,
  kind       TEXT NOT NULL,
  owner      TEXT NOT NULL,
  name       TEXT NOT NULL,
  doc        TEXT NOT NULL,
  view       TEXT NOT NULL,
  base       TEXT NOT NULL,
  revision   INTEGER NOT NULL CHECK (revision >= 1),
  updated_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX drafts_by_owner ON drafts (owner, kind, updated_at);
