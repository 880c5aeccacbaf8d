create table keys (
  id uuid primary key,
  organization_id uuid not null,
  name text not null,
  key_hash text not null,
  key_hint text not null,
  project_id uuid,
  products text not null,
  enabled boolean not null,
  expires_at timestamptz,
  allowed_models text,
  client_tools boolean not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index keys_by_hash on keys (key_hash);
create index keys_by_organization on keys (organization_id, created_at);
