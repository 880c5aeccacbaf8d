-- One row per run. The results of its steps are read from its stream.
create table runs (
  id uuid primary key,
  organization_id uuid not null,
  -- of the event that created it
  position bigint not null,
  workflow_id uuid not null,
  definition_id uuid not null,
  definition_version integer not null,
  project_id uuid,
  trigger_id uuid,
  status text not null,
  started_by text not null,
  run_as text not null,
  external_user_id text,
  -- the mark of that value, also of runs that such a run starts; null in events of older releases
  user_mark text,
  result text,
  completion text,
  error text,
  cancelled_by text,
  created_at timestamptz not null,
  started_at timestamptz,
  completed_at timestamptz,
  expires_at timestamptz not null,
  -- the run that this one retries, forks or continues
  parent_id uuid,
  parent_kind text,
  parent_step text,
  -- of a chain of runs that `continueAs` makes: its first run, the number of this one from 2, and the next run
  first_run_id uuid,
  chain_nth integer,
  continued_as uuid,
  -- the run that started this one
  starter_id uuid,
  -- who is behind the run, where that is not who started it: of the first run of a chain, or of its trigger
  asked_by text
);
create index runs_by_starter on runs (starter_id) where starter_id is not null;
create index runs_by_parent on runs (parent_id) where parent_id is not null;
create index runs_by_workflow on runs (workflow_id, created_at, id);
-- the hash of the actor takes 4 bytes, its JSON 60
create index runs_by_actor on runs (organization_id, hashtext(started_by), created_at, id);
-- for erasures and exports
create index runs_by_user on runs (organization_id, user_mark, created_at, id) where user_mark is not null;
create index runs_by_organization on runs (organization_id, created_at, id);
-- for retention: runs that have ended
create index runs_ended on runs (organization_id, completed_at) where completed_at is not null;
create index runs_live on runs (workflow_id) where status in ('pending', 'running');
-- Waits of live runs for messages.
create table message_waits (
  run_id uuid not null,
  key text not null,
  organization_id uuid not null,
  project_id uuid,
  name text not null,
  match text not null,
  -- of the event in the log: a message answers the waits before it
  position bigint not null,
  primary key (run_id, key)
);
create index message_waits_by_name on message_waits (organization_id, name, position);
create table approvals (
  id uuid primary key,
  -- of an approval that a run asks for
  run_id uuid,
  workflow_id uuid,
  -- of an approval of an agent's tool call: the call, and who asked the agent; its arguments are in read.turn_rounds
  turn_id uuid,
  thread_id uuid,
  agent_id uuid,
  round integer,
  call integer,
  asked_by text,
  organization_id uuid not null,
  project_id uuid,
  -- version of the stream: it orders approvals that are asked for at the same time
  version integer not null,
  status text not null,
  name text not null,
  title text not null,
  body text,
  form text,
  assignees text not null,
  -- the assignees as searchable text, see ./assignees.ts
  assigned text,
  -- further assignees, from `escalated_at` on
  escalate_to text,
  escalate_assigned text,
  escalated_at timestamptz,
  reminded_at timestamptz,
  -- ids of files, JSON
  attachments text,
  self_approval boolean not null,
  allow_api_key boolean not null,
  -- null: one vote decides
  required integer,
  one_rejection_ends boolean,
  decision text,
  data text,
  comment text,
  decided_by_type text,
  decided_by_id text,
  -- the person in whose place a substitute decided
  decided_for uuid,
  decided_at timestamptz,
  expires_at timestamptz not null,
  created_at timestamptz not null
);
create index approvals_by_run on approvals (run_id);
create index approvals_by_thread on approvals (thread_id, turn_id) where thread_id is not null;
create index approvals_by_agent on approvals (agent_id) where status = 'pending' and agent_id is not null;
create index approvals_by_organization on approvals (organization_id, status, created_at);
-- for exports: what somebody decided
create index approvals_by_decider on approvals (organization_id, decided_by_type, decided_by_id)
  where decided_by_id is not null;
-- Votes on approvals that take several.
create table approval_votes (
  approval_id uuid not null,
  by_type text not null,
  by_id text not null,
  -- the person in whose place a substitute voted
  for_id uuid,
  run_id uuid not null,
  organization_id uuid not null,
  version integer not null,
  decision text not null,
  data text,
  comment text,
  at timestamptz not null,
  primary key (approval_id, by_type, by_id)
);
create index approval_votes_by_run on approval_votes (run_id);
create index approval_votes_by_voter on approval_votes (organization_id, by_type, by_id);
-- Who handed an approval on to whom. The last row that names a person says whether that person may decide.
create table approval_delegations (
  approval_id uuid not null,
  version integer not null,
  run_id uuid not null,
  by_id uuid not null,
  to_id uuid not null,
  reason text not null,
  at timestamptz not null,
  primary key (approval_id, version)
);
create index approval_delegations_by_run on approval_delegations (run_id);
create table approval_comments (
  id uuid primary key,
  approval_id uuid not null,
  run_id uuid not null,
  version integer not null,
  by_type text not null,
  by_id uuid not null,
  text text not null,
  at timestamptz not null
);
create index approval_comments_by_approval on approval_comments (approval_id, version);
create index approval_comments_by_run on approval_comments (run_id);
-- Files that people handed to the run with a decision, a vote or a comment: the event with that version.
create table approval_files (
  approval_id uuid not null,
  version integer not null,
  nth integer not null,
  run_id uuid not null,
  file_id uuid not null,
  -- of the decision, which follows the vote that decides and repeats it
  decides boolean not null,
  primary key (approval_id, version, nth)
);
create index approval_files_by_run on approval_files (run_id);
-- Links by which people without an account decide approvals.
create table approval_links (
  id uuid primary key,
  approval_id uuid not null,
  run_id uuid not null,
  organization_id uuid not null,
  version integer not null,
  secret_hash text not null,
  name text,
  email text,
  -- the person who created it
  created_by_id uuid not null,
  expires_at timestamptz not null,
  created_at timestamptz not null,
  revoked_at timestamptz,
  used_at timestamptz,
  decision text
);
create index approval_links_by_approval on approval_links (approval_id);
create index approval_links_by_run on approval_links (run_id);
-- What the values in blobs take, by the event that has them. No index by organization: one process adds all of them up.
create table run_values (
  run_id uuid not null,
  position bigint not null,
  organization_id uuid not null,
  bytes bigint not null,
  primary key (run_id, position)
);
