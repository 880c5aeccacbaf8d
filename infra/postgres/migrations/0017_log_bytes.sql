-- Up Migration

-- What the events of each organization take, up to the counted position, and what the values of its runs take as blobs.
create table ops.log_bytes (
  organization_id uuid primary key,
  bytes bigint not null,
  value_bytes bigint not null default 0
);

-- The last slice of the log that was counted: the positions after `previous`, up to `position`. An existing log is counted from its beginning.
create table ops.log_bytes_counted (
  is_only boolean primary key default true check (is_only),
  previous bigint not null default 0,
  position bigint not null default 0
);
insert into ops.log_bytes_counted default values;

select ops.protect_table('ops.log_bytes');
select ops.protect_table('ops.log_bytes_counted');

-- Down Migration
