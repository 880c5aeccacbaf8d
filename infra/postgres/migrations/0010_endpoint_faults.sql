-- Up Migration

-- Why the vectors of an organization's passages cannot be made at this moment.
create table ops.embedding_faults (
  organization_id uuid primary key,
  message text not null,
  -- of the first failure in a row
  since timestamptz not null default now()
);

select ops.protect_table('ops.embedding_faults');

-- Down Migration
