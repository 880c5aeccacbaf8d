-- The value is never stored here: scripts get it from the head row of the secret's stream.
create table secrets (
  id uuid primary key,
  organization_id uuid not null,
  name text,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index secrets_by_organization on secrets (organization_id);
