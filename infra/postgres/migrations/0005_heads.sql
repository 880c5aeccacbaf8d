-- Up Migration

-- A head row is updated with every commit of its stream. Where no indexed column changes and the page has room, no index is touched:
-- the sweep's index names streams, and no longer positions, which change each time.
drop index log.streams_with_open_work;
create index streams_with_open_work on log.streams (stream) where status <> 'waiting';
alter table log.streams set (fillfactor = 70);

-- Down Migration
