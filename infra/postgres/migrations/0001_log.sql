-- Up Migration
create schema log;
create schema ops;
create schema read;

-- One row: the newest position and the hash of the chain that ends there. Its lock orders all appends.
create table log.head (
  one boolean primary key default true check (one),
  position bigint not null,
  hash bytea not null
);
insert into log.head values (true, 0, sha256('assistant-platform log'::bytea));

create table log.events (
  position bigint primary key,
  stream text not null,
  version integer not null,
  organization_id uuid not null,
  type text not null,
  -- version of the event's schema, for upcasting on read
  shape smallint not null,
  command_id text not null,
  recorded_at timestamptz not null,
  meta text not null,
  -- public fields, JSON encoded by us: jsonb would refuse NUL and lone surrogates
  data text not null,
  -- personal fields, sealed with the data key of `thing`
  sealed bytea,
  thing text,
  -- sha256(hash of the event before, this event)
  hash bytea not null,
  unique (stream, version)
);

-- One effect per command: every answered command leaves a row, refused and empty ones too.
create table log.commands (
  command_id text not null,
  organization_id uuid not null,
  position bigint not null,
  fingerprint text,
  http text,
  rejection text,
  recorded_at timestamptz not null,
  primary key (command_id, organization_id)
);
create index commands_by_fingerprint on log.commands (fingerprint) where fingerprint is not null;
-- Read by the daily clean-up only: block ranges cost appends nothing.
create index commands_by_age on log.commands using brin (recorded_at);

-- Where each stream stands: the folded state for deciders, and what the sweep looks for.
create table log.streams (
  stream text primary key,
  organization_id uuid not null,
  version integer not null,
  position bigint not null,
  state text not null,
  state_version integer not null,
  status text,
  due_at timestamptz,
  worker text
);
create index streams_with_work on log.streams (due_at) where status is not null;

-- Data keys, wrapped by the master key. Outside the hash chain: to forget a thing is to delete its row.
create table log.keys (
  thing text primary key,
  stream text not null,
  wrapped text not null
);
create index keys_by_stream on log.keys (stream);

create table log.checkpoints (
  name text primary key,
  version integer not null,
  position bigint not null,
  -- counts how often it was built from zero, so that a follower notices a swap that left version and position alike
  build integer not null default 1
);

-- Streams that a projection cannot follow, from the event that failed on; the others go on.
create table log.parked (
  projection text not null,
  stream text not null,
  position bigint not null,
  error text not null,
  parked_at timestamptz not null default now(),
  primary key (projection, stream)
);

-- Not history: who is alive. What a worker holds is up for takeover when it has not beaten for 10 s.
create table ops.workers (
  worker text primary key,
  role text not null,
  beat_at timestamptz not null
);

-- Turns whose client left before the whole answer was sent; a retry of the same request may join one, once.
create table ops.unanswered (
  command_id text primary key,
  left_at timestamptz not null default now()
);

create table ops.login_attempts (
  subject text not null,
  at timestamptz not null default now()
);
create index login_attempts_by_subject on ops.login_attempts (subject, at);

create table ops.last_used (
  id text primary key,
  at timestamptz not null
);

create type log.new_command as (
  n integer, command_id text, organization_id uuid, meta text, fingerprint text, http text, rejection text
);
create type log.new_event as (
  n integer, command integer, stream text, version integer, type text, shape smallint, data text, sealed bytea, thing text
);

/*
 * Appends many commands' events at once; answers for each command by its number.
 * Called in autocommit: the head row's lock is held for one statement and the commit, with no client round trip under it,
 * so positions are gap-free and in commit order. A version conflict fails that command only.
 * In a batch, commands of one stream come in order and their versions follow each other.
 */
create function log.append(commands json, events json, heads json, keys json, erasures json, forgotten json)
returns table (n integer, kind text, first bigint, last bigint, at timestamptz, stored_position bigint, stored_fingerprint text, stored_rejection text)
language plpgsql
-- Plans are kept from when the tables were empty. The large tables are looked up row by row (lateral ... offset 0) and by
-- index whatever their size: an append of one command took 5 ms at 30,000 rows without this, and takes 0.7 with it.
set enable_seqscan = off
as $$
declare
  top log.head;
  moment timestamptz;
  cmds log.new_command[];
  evs log.new_event[];
  known integer[];
  refused integer[];
  failing integer[];
  hash bytea;
  hashes bytea[] := '{}';
  e record;
begin
  cmds := array(select row(c.n, c.command_id, c.organization_id, c.meta, c.fingerprint, c.http, c.rejection)::log.new_command
                from json_to_recordset(commands) as c(n integer, command_id text, organization_id uuid, meta text, fingerprint text, http text, rejection text));
  evs := array(select row(v.n, v.command, v.stream, v.version, v.type, v.shape, v.data, decode(v.sealed, 'base64'), v.thing)::log.new_event
               from json_to_recordset(events) as v(n integer, command integer, stream text, version integer, type text, shape smallint, data text, sealed text, thing text));

  select * into top from log.head for update;
  moment := clock_timestamp();

  known := array(select c.n from unnest(cmds) c cross join lateral (
    select from log.commands k where (k.command_id, k.organization_id) = (c.command_id, c.organization_id) offset 0) found);
  -- the same command twice in one batch: the later one is tried again and then finds the outcome
  refused := array(select later.n from (select c.n, row_number() over (partition by c.command_id, c.organization_id order by c.n) as nth from unnest(cmds) c) later where later.nth > 1)
    || array(select k.command from json_to_recordset(keys) as k(command integer, thing text)
             cross join lateral (select from log.keys old where old.thing = k.thing offset 0) found
             where k.command <> all (known));

  -- per stream, the first command whose version does not follow; without it the next ones may fit, so look again
  loop
    failing := array(
      select distinct min(v.command) from (
        select v.command, v.stream, v.version, coalesce(s.version, 0) + row_number() over (partition by v.stream order by v.n) as next
        from unnest(evs) v left join lateral (select old.version from log.streams old where old.stream = v.stream offset 0) s on true
        where v.command <> all (known) and v.command <> all (refused)
      ) v where v.version <> v.next group by v.stream);
    exit when cardinality(failing) = 0;
    refused := refused || failing;
  end loop;

  -- The chain: each hash covers the one before and everything that the event says. No text among it can hold a line feed,
  -- so the sealed bytes at the end are unambiguous. A loop here is three times as fast as an aggregate in SQL.
  hash := top.hash;
  for e in
    select v.*, c.organization_id, c.command_id, c.meta, top.position + row_number() over (order by v.n) as position
    from unnest(evs) v join unnest(cmds) c on c.n = v.command
    where v.command <> all (known) and v.command <> all (refused)
    order by v.n
  loop
    hash := sha256(hash || convert_to(concat_ws(E'\n', e.position, e.stream, e.version, e.organization_id, e.type, e.shape, e.command_id,
      (extract(epoch from moment) * 1000000)::bigint, e.meta, e.data, coalesce(e.thing, '')) || E'\n', 'UTF8') || coalesce(e.sealed, ''::bytea));
    hashes := hashes || hash;
  end loop;
  if cardinality(hashes) > 0 then
    update log.head set position = top.position + cardinality(hashes), hash = hashes[cardinality(hashes)];
  end if;

  return query with
    placed as materialized (
      select v.*, c.organization_id, c.command_id, c.meta, row_number() over (order by v.n) as nth
      from unnest(evs) v join unnest(cmds) c on c.n = v.command
      where v.command <> all (known) and v.command <> all (refused)
    ),
    written as (
      insert into log.events (position, stream, version, organization_id, type, shape, command_id, recorded_at, meta, data, sealed, thing, hash)
      select top.position + p.nth, p.stream, p.version, p.organization_id, p.type, p.shape, p.command_id, moment, p.meta, p.data, p.sealed, p.thing, hashes[p.nth]
      from placed p
    ),
    spans as materialized (
      select c.*, span.first, span.last
      from unnest(cmds) c
      left join (select p.command, top.position + min(p.nth) as first, top.position + max(p.nth) as last from placed p group by p.command) span on span.command = c.n
      where c.n <> all (known) and c.n <> all (refused)
    ),
    answered as (
      insert into log.commands (command_id, organization_id, position, fingerprint, http, rejection, recorded_at)
      select s.command_id, s.organization_id, coalesce(s.last, 0), s.fingerprint, s.http, s.rejection, moment from spans s
    ),
    headed as (
      insert into log.streams as old (stream, organization_id, version, position, state, state_version, status, due_at, worker)
      select distinct on (h.stream) h.stream, p.organization_id, p.version, top.position + p.nth, h.state, h.state_version, h.status, h.due_at, h.worker
      from json_to_recordset(heads) as h(command integer, stream text, state text, state_version integer, status text, due_at timestamptz, worker text)
      join placed p on p.stream = h.stream and p.command = h.command
      order by h.stream, p.nth desc
      on conflict (stream) do update set version = excluded.version, position = excluded.position, state = excluded.state,
        state_version = excluded.state_version, status = excluded.status, due_at = excluded.due_at, worker = excluded.worker
    ),
    keyed as (
      insert into log.keys (thing, stream, wrapped)
      select k.thing, k.stream, k.wrapped from json_to_recordset(keys) as k(command integer, thing text, stream text, wrapped text)
      join spans s on s.n = k.command
    )
    select s.n, 'committed', s.first, s.last, moment, null::bigint, null::text, null::text from spans s
    union all
    select c.n, 'repeated', null, null, null, k.position, k.fingerprint, k.rejection
    from unnest(cmds) c cross join lateral (
      select * from log.commands k where (k.command_id, k.organization_id) = (c.command_id, c.organization_id) offset 0) k
    where c.n = any (known)
    union all
    select c.n, 'conflict', null, null, null, null, null, null
    from unnest(cmds) c where c.n = any (refused) and c.n <> all (known);

  if json_array_length(erasures) > 0 then
    delete from log.keys k using json_to_recordset(erasures) as x(command integer, thing text, stream text)
    where (k.thing = x.thing or k.stream = x.stream) and x.command <> all (known) and x.command <> all (refused);
  end if;
  if json_array_length(forgotten) > 0 then
    delete from log.commands c using json_to_recordset(forgotten) as f(command integer, command_id text), unnest(cmds) m
    where m.n = f.command and c.command_id = f.command_id and c.organization_id = m.organization_id and f.command <> all (known) and f.command <> all (refused);
  end if;
end $$;

-- Down Migration
