-- Up Migration

-- When and where in the log what had been deleted was last overwritten in the files, too.
create table ops.scrubs (
  one boolean primary key default true check (one),
  position bigint not null,
  at timestamptz not null default now()
);

-- Down Migration
