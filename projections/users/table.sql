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
create index users_by_organization on users (organization_id, created_at);
