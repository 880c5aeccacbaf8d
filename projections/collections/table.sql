create table collections (
  id uuid primary key,
  organization_id uuid not null,
  slug text not null,
  name text not null,
  -- the name for case-insensitive lookups, see nameKey.ts
  name_key text not null,
  description text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index collections_by_organization on collections (organization_id, created_at);
create index collections_by_slug on collections (organization_id, slug);
