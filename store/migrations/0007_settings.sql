-- Settings people made on a page: ordinary rows (P33). A key in a value is
-- encrypted; what it is encrypted with stands beside the database, not in it.
CREATE TABLE settings (
  name       TEXT PRIMARY KEY,
  value      BLOB NOT NULL,
  changed_at INTEGER NOT NULL,
  changed_by TEXT NOT NULL
) STRICT;
