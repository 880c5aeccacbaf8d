-- What may not be erased: holds that stand, and those that were released.
create table holds (
  id uuid primary key,
  organization_id uuid not null,
  subject text not null,
  name text not null,
  reason text not null,
  placed_by text not null,
  created_at timestamptz not null,
  released_by text,
  released_at timestamptz
);
create index holds_by_organization on holds (organization_id, created_at);
