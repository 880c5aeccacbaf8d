-- For how long an organization or a project keeps things.
create table retention (
  id uuid primary key,
  organization_id uuid not null,
  subject text not null,
  -- days by kind of thing (JSON); null once they were removed
  rules text,
  -- so far
  threads integer not null,
  files integer not null,
  documents integer not null,
  runs integer not null,
  turns integer not null,
  next_round_at timestamptz,
  last_round_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index retention_by_organization on retention (organization_id, created_at);
