create table projects (
  id uuid primary key,
  organization_id uuid not null,
  name text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index projects_by_organization on projects (organization_id, created_at);
