-- Up Migration

-- How far the log went when numbers stopped being cursors: earlier releases showed organizations the positions of their events up to here.
create table log.numbered_cursors (
  is_only boolean primary key default true check (is_only),
  last_position bigint not null
);

select ops.protect_table('log.numbered_cursors');

insert into log.numbered_cursors (last_position) select position from log.head;

-- Down Migration
