create table users (
  id uuid primary key,
  organization_id uuid not null,
  role text not null,
  active boolean not null,
  -- sessions of another epoch are invalid
  epoch integer not null,
  email text not null,
  name text not null,
  password_hash text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index users_by_email on users (email);
-- Who may decide approvals for whom, and when.
create table substitutes (
  user_id uuid primary key,
  organization_id uuid not null,
  substitute_id uuid not null,
  from_time timestamptz not null,
  until_time timestamptz not null
);
create index substitutes_by_substitute on substitutes (organization_id, substitute_id);
create index users_by_organization on users (organization_id, created_at);
