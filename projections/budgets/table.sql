-- A budget that is removed keeps its row without limits, so that created_at survives when it is set again.
-- The id is that of the stream, which is derived from organization and subject.
create table budgets (
  id uuid primary key,
  organization_id uuid not null,
  subject text not null,
  limits text,
  hard boolean,
  -- JSON: the workflow that runs at each step of a limit, and who set that
  alert text,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index budgets_by_organization on budgets (organization_id);
