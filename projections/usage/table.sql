-- Usage by turn, by reading of a document and by extraction. It outlives these, and contains no personal data.
create table usage (
  source_id uuid not null,
  -- of a turn: the round while it runs, then -1 for the whole turn; of a document: the generation
  part integer not null,
  -- that of the source
  generation integer not null,
  organization_id uuid not null,
  at timestamptz not null,
  turns integer not null,
  prompt_tokens bigint not null,
  completion_tokens bigint not null,
  cached_tokens bigint not null,
  reasoning_tokens bigint not null,
  -- in US dollars; null: not known
  cost numeric,
  pages integer not null,
  -- the model that answered, where the turn named an alias; else that of the source
  model text,
  primary key (source_id, part)
);
create index usage_by_organization on usage (organization_id, at);
-- The principal that pays (of a turn of a run who is behind the run), and for a turn its model, user scope and agent.
create table usage_sources (
  id uuid not null,
  -- of a document, each of whose readings may have another payer; else 0
  generation integer not null,
  organization_id uuid not null,
  principal text not null,
  -- of a turn only
  scope text,
  model text,
  agent_id uuid,
  -- whose step asked
  workflow_id uuid,
  project_id uuid,
  -- the mark of the request's user
  user_mark text,
  -- an object, of a turn whose caller gave it labels
  labels text,
  primary key (id, generation)
);
-- The project of each key and agent (`key:<id>`, `agent:<id>`), also of one that was deleted.
create table usage_projects (
  owner text primary key,
  organization_id uuid not null,
  project_id uuid
);
create index usage_projects_by_project on usage_projects (project_id) where project_id is not null;
-- What budgets of money hold back for turns that have not ended.
create table usage_reservations (
  organization_id uuid not null,
  turn_id uuid not null,
  thread_id uuid not null,
  -- in US dollars
  reserved numeric not null,
  -- of the turn, since which it is held; one that waits for a person holds nothing for its next attempt
  attempt integer not null,
  -- every turn inserts one row and deletes it again, so there is no second index; few turns are open at a time
  primary key (organization_id, turn_id)
);
-- The user values behind scopes, as long as a turn or a run of the user exists.
create table usage_users (
  -- of a turn or a run
  id uuid primary key,
  -- of a turn
  thread_id uuid,
  organization_id uuid not null,
  scope text not null,
  user_mark text,
  name text not null
);
create index usage_users_by_thread on usage_users (thread_id) where thread_id is not null;
create index usage_users_by_scope on usage_users (organization_id, scope);
-- What counts at this moment: a turn's attachments, a file, a document, an extraction, or a run that has not ended.
create table usage_holdings (
  id uuid primary key,
  -- of a turn
  thread_id uuid,
  organization_id uuid not null,
  -- of the event that created it
  position bigint not null,
  principal text not null,
  project_id uuid,
  agent_id uuid,
  user_mark text,
  bytes bigint not null,
  documents integer not null,
  runs integer not null
);
create index usage_holdings_by_principal on usage_holdings (organization_id, principal);
create index usage_holdings_by_thread on usage_holdings (thread_id) where thread_id is not null;
