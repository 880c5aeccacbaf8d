create table sessions (
  id uuid primary key,
  organization_id uuid not null,
  user_id uuid not null,
  token_hash text not null,
  epoch integer not null,
  expires_at timestamptz not null,
  started_at timestamptz not null
);
create index sessions_by_token on sessions (token_hash);
create index sessions_by_user on sessions (user_id);
