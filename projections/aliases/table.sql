-- The id is derived from organization and name, so names need no index.
create table aliases (
  id uuid primary key,
  organization_id uuid not null,
  name text not null,
  -- the targets and the rules of the route
  settings text not null,
  updated_at timestamptz not null
);
create index aliases_by_organization on aliases (organization_id);
