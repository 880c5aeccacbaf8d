-- What was spent, by turn, by reading of a document and by extraction. It outlives what it was spent on, and names nobody.
create table usage (
  source_id uuid not null,
  -- of a turn: its round until it has ended, then -1 for the whole; of a document: the generation
  part integer not null,
  organization_id uuid not null,
  at timestamptz not null,
  turns integer not null,
  prompt_tokens bigint not null,
  completion_tokens bigint not null,
  cached_tokens bigint not null,
  reasoning_tokens bigint not null,
  pages integer not null,
  primary key (source_id, part)
);
create index usage_by_organization on usage (organization_id, at);
-- Whom and what it was spent for.
create table usage_sources (
  id uuid primary key,
  organization_id uuid not null,
  principal text not null,
  -- of a turn
  scope text,
  model text,
  agent_id uuid
);
-- The user values behind scopes, while a turn of theirs is there.
create table usage_users (
  turn_id uuid primary key,
  thread_id uuid not null,
  organization_id uuid not null,
  scope text not null,
  name text not null
);
create index usage_users_by_thread on usage_users (thread_id);
create index usage_users_by_scope on usage_users (organization_id, scope);
