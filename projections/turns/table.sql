-- A turn is put once and patched when it ends: room in the page keeps that update off the indexes.
create table turns (
  id uuid primary key,
  thread_id uuid not null,
  organization_id uuid not null,
  -- of the event that started it: the order of turns in their thread
  position bigint not null,
  scope text not null,
  model text not null,
  streamed boolean not null,
  status text not null,
  input text,
  prompt_blob text,
  said text,
  finish_reason text,
  usage text,
  error text,
  code text,
  -- of an agent's response: the agent, what the caller said beside the messages, and the blob of what its stream told
  agent text,
  asked text,
  frames text,
  command_id text not null,
  attempt integer not null,
  ends_by timestamptz not null,
  started_at timestamptz not null,
  ended_at timestamptz
) with (fillfactor = 70);
create index turns_by_thread on turns (thread_id, position);
-- A run takes the threads with it that its steps have begun.
create index turns_of_runs on turns (scope) where scope like 'run:%';
create index turns_of_agents on turns (organization_id, scope, started_at) where agent is not null;
-- What a turn said and asked for before its last answer; a turn without tools has none.
create table turn_rounds (
  turn_id uuid not null,
  round integer not null,
  thread_id uuid not null,
  said text,
  calls text,
  primary key (turn_id, round)
);
create table turn_calls (
  turn_id uuid not null,
  round integer not null,
  call integer not null,
  thread_id uuid not null,
  status text not null,
  primary key (turn_id, round, call)
);
