-- Where each schedule stands. Its name, arguments and identity are a row of triggers, whose rows are flushed at commit: these change with every run.
create table schedules (
  trigger_id uuid primary key,
  organization_id uuid not null,
  settings text not null,
  paused boolean not null,
  next_at timestamptz,
  last_due_at timestamptz,
  last_at timestamptz,
  last_outcome text,
  last_run_id uuid,
  last_error text
);
create index schedules_with_next on schedules (organization_id) where next_at is not null;
