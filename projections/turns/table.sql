-- A turn is inserted once and updated when it ends. Free space in the pages allows the update without index writes.
create table turns (
  id uuid primary key,
  thread_id uuid not null,
  organization_id uuid not null,
  -- position of the event that started it: the order of turns in their thread
  position bigint not null,
  -- who asked
  principal text not null,
  scope text not null,
  -- the first words of its first user message
  title text,
  model text not null,
  streamed boolean not null,
  status text not null,
  input text,
  prompt_blob text,
  -- of attachments, and of the prompt if it is a blob
  stored_bytes bigint not null,
  said text,
  finish_reason text,
  usage text,
  error text,
  code text,
  -- of a response: the agent, the request fields that it repeats, and the blob with the frames of its stream
  agent text,
  -- null for a turn of a run
  agent_id uuid,
  asked text,
  frames text,
  command_id text not null,
  attempt integer not null,
  ends_by timestamptz not null,
  started_at timestamptz not null,
  ended_at timestamptz,
  -- since when it waits for the approval of a tool call, and no worker holds it
  parked_at timestamptz,
  -- since when it goes on after it waited; null again when it waits or has ended
  resumed_at timestamptz
) with (fillfactor = 70);
create index turns_by_thread on turns (thread_id, position);
-- For deleting a run together with the threads that its steps started.
create index turns_of_runs on turns (scope) where scope like 'run:%';
-- For the limit of an organization.
create index turns_with_blobs on turns (organization_id) include (stored_bytes) where stored_bytes > 0;
-- For the limit of an organization.
create index turns_parked on turns (organization_id) where parked_at is not null;
-- For the limits of turns under way: these may have started days ago.
create index turns_resumed on turns (organization_id) where resumed_at is not null;
-- For the list of an organization's requests; columns that never change, so that the update needs no index write.
create index turns_by_organization on turns (organization_id, started_at, id);
create index turns_of_agents on turns (organization_id, scope, started_at) where agent is not null;
create index responses_by_principal on turns (organization_id, principal, position) where agent_id is not null;
create index responses_by_agent on turns (organization_id, agent_id, position) where agent_id is not null;
-- A thread of a caller; threads of runs are left out. Rows never change.
create table threads (
  id uuid primary key,
  organization_id uuid not null,
  -- of the event that opened it
  position bigint not null,
  -- the owner, as a principal and as a scope (with the user value)
  principal text not null,
  scope text not null,
  agent_id uuid,
  created_at timestamptz not null
);
create index threads_by_scope on threads (organization_id, scope, position);
create index threads_by_principal on threads (organization_id, principal, position);
create index threads_of_agents on threads (organization_id, agent_id, position) where agent_id is not null;
create index threads_by_principal_and_agent on threads (organization_id, principal, agent_id) where agent_id is not null;
-- The rounds of a turn: output and tool calls before its final answer. A turn without tools has none.
create table turn_rounds (
  turn_id uuid not null,
  round integer not null,
  thread_id uuid not null,
  said text,
  calls text,
  primary key (turn_id, round)
);
create index turn_rounds_by_thread on turn_rounds (thread_id);
create table turn_calls (
  turn_id uuid not null,
  round integer not null,
  call integer not null,
  thread_id uuid not null,
  status text not null,
  primary key (turn_id, round, call)
);
create index turn_calls_by_thread on turn_calls (thread_id);
