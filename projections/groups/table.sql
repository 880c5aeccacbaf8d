-- The id is derived from organization and name, so names need no index.
create table groups (
  id uuid primary key,
  organization_id uuid not null,
  name text not null,
  updated_at timestamptz not null
);
create index groups_by_organization on groups (organization_id);
create table group_members (
  group_id uuid not null,
  user_id uuid not null,
  organization_id uuid not null,
  primary key (group_id, user_id)
);
create index group_members_by_user on group_members (organization_id, user_id);
