-- A deletion of everything that an owner has.
create table erasures (
  id uuid primary key,
  organization_id uuid not null,
  -- of the event that started it
  position bigint not null,
  owner text not null,
  status text not null,
  threads integer not null,
  files integer not null,
  runs integer not null,
  documents integer not null,
  extractions integer not null,
  started_by text not null,
  created_at timestamptz not null,
  completed_at timestamptz
);
create index erasures_by_organization on erasures (organization_id, position);
