create table triggers (
  id uuid primary key,
  organization_id uuid not null,
  workflow_id uuid not null,
  -- null for a schedule, as are the hash and the hint of the secret
  hook_token text,
  secret_hash text,
  secret_hint text,
  run_as text,
  enabled boolean not null,
  name text not null,
  default_args text not null,
  created_at timestamptz not null,
  -- the principal that made what starts its runs as it is: its times and arguments, or its secret
  set_by text not null,
  rotated_at timestamptz,
  verify text,
  sealed_secret text,
  headers text not null,
  -- the name of the event that a call sends; null: it starts a run
  event text
);
create index triggers_by_token on triggers (hook_token);
create index triggers_by_workflow on triggers (workflow_id, created_at);
