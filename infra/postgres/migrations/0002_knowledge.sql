-- Up Migration

-- Which index of the search server answers, and by which version of the code it was filled. Its follower's place is the row
-- 'passages' of log.checkpoints.
create table ops.search_index (
  name text primary key default 'passages',
  index_id text not null,
  version integer not null
);

-- An index that is asked for, or being filled, beside the serving one: what `svc projections rebuild` writes and watches.
create table ops.index_builds (
  name text primary key default 'passages',
  requested_at timestamptz not null default now(),
  position bigint not null default 0,
  target bigint
);

-- Counts of the documents of each collection, refreshed on a timer.
create table ops.collection_summaries (
  collection_id uuid primary key,
  ready integer not null,
  pending integer not null,
  failed integer not null,
  total integer not null,
  bytes bigint not null
);

-- The sweep looks for open work every 2 s in every process; extractions that only wait for their end are many.
create index streams_with_open_work on log.streams (position) where status <> 'waiting';

-- Down Migration
