-- Up Migration

-- Which NATS each process uses. A process of the version before says nothing.
alter table ops.workers add column bus text, add column bus_at timestamptz;

-- The NATS of the deployment: the one that its processes agree on.
create table ops.bus (
  is_only boolean primary key default true check (is_only),
  bus text not null
);

select ops.protect_table('ops.bus');

-- Down Migration
