-- P33: the versions of templates, projected in the transaction of their facts
-- (template.saved and template.quarantined in admin). The documents are in contents.
CREATE TABLE templates (
  name           TEXT NOT NULL,
  version        INTEGER NOT NULL,
  seq            INTEGER NOT NULL,
  hash           TEXT NOT NULL,
  title          TEXT NOT NULL,
  owner          TEXT NOT NULL,
  origin         TEXT NOT NULL,
  actor          TEXT NOT NULL,
  at             INTEGER NOT NULL,
  quarantine     TEXT NOT NULL,
  quarantined_by TEXT NOT NULL,
  quarantined_at INTEGER NOT NULL,
  PRIMARY KEY (name, version)
) STRICT;

-- Which runs are instances of which version, as their summaries say.
CREATE INDEX runs_by_template ON runs (json_extract(CAST(summary AS TEXT), '$.template'), created_at)
WHERE json_extract(CAST(summary AS TEXT), '$.template') IS NOT NULL;
