create table files (
  id uuid primary key,
  organization_id uuid not null,
  -- of the event that uploaded it
  position bigint not null,
  principal text not null,
  scope text not null,
  filename text not null,
  purpose text not null,
  mime_type text not null,
  bytes bigint not null,
  sha256 text not null,
  blob text not null,
  created_at timestamptz not null
);
create index files_by_scope on files (organization_id, scope, created_at);
create index files_by_principal on files (organization_id, principal, position);
