create table agents (
  id uuid primary key,
  organization_id uuid not null,
  version integer not null,
  name text not null,
  instructions text not null,
  model text,
  tools text not null,
  collections text,
  reasoning_effort text,
  api_enabled boolean not null,
  project_id uuid,
  expose_tool_items boolean not null,
  client_tools boolean not null,
  tool_approvals text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index agents_by_organization on agents (organization_id, created_at);
