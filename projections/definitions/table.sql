create table definitions (
  id uuid primary key,
  organization_id uuid not null,
  type text not null,
  version integer not null,
  name text not null,
  meta text not null,
  grants text not null,
  blob text not null,
  sha256 text not null,
  -- of the scripts of all versions
  stored_bytes bigint not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index definitions_by_organization on definitions (organization_id, type, name);
-- All versions are kept: responses and runs name the version that they ran.
create table definition_versions (
  definition_id uuid not null,
  version integer not null,
  meta text not null,
  blob text not null,
  sha256 text not null,
  created_by text not null,
  created_at timestamptz not null,
  primary key (definition_id, version)
);
