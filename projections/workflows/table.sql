create table workflows (
  id uuid primary key,
  organization_id uuid not null,
  definition_id uuid not null,
  definition_version integer not null,
  project_id uuid,
  enabled boolean not null,
  envelope text not null,
  envelope_version integer not null,
  name text not null,
  description text not null,
  created_by text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index workflows_by_organization on workflows (organization_id, created_at);
create index workflows_by_definition on workflows (definition_id);
-- The last start of a run by each trigger. It outlives the runs. It is not a column of triggers, because their rows are flushed at commit.
create table trigger_starts (
  trigger_id uuid primary key,
  started_at timestamptz not null
);
