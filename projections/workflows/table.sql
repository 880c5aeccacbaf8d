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
-- Triggers that have started a run, and when last. It outlives the runs; and it is not among the triggers, because a row there waits for the disk.
create table trigger_starts (
  trigger_id uuid primary key,
  started_at timestamptz not null
);
