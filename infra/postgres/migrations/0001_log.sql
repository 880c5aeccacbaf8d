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

-- What the chain covers of an event. No field before the sealed bytes can hold a line feed, so the bytes are unambiguous.
create function log.line(pos bigint, stream text, version integer, organization_id uuid, type text, shape smallint, command_id text,
                         recorded_at timestamptz, meta text, data text, thing text, sealed bytea) returns bytea
language sql immutable as $$
  select convert_to(concat_ws(E'\n', pos, stream, version, organization_id, type, shape, command_id,
                              (extract(epoch from recorded_at) * 1000000)::bigint, meta, data, coalesce(thing, '')) || E'\n', 'UTF8')
         || coalesce(sealed, ''::bytea)
$$;

create function log.link(state bytea, start bytea, line bytea) returns bytea
language sql immutable as $$ select sha256(coalesce(state, start) || line) $$;

create aggregate log.chain(start bytea, line bytea) (sfunc = log.link, stype = bytea);

/*
 * Appends many commands' events at once; answers for each command by its number.
 * Called in autocommit: the head row's lock is held for one statement and the commit, with no client round trip under it,
 * so positions are gap-free and in commit order. A version conflict fails that command only.
 * In a batch, commands of one stream come in order and their versions follow each other.
 */
create function log.append(commands json, events json, heads json, keys json, erasures json, forgotten json)
returns table (n integer, kind text, first bigint, last bigint, at timestamptz, stored_position bigint, stored_fingerprint text, stored_rejection text)
language plpgsql
-- Plans are kept from when the tables were empty: without this an append reads all of log.commands and log.keys (5 ms at 30,000 rows, now 0.7)
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  top log.head;
  moment timestamptz;
  cmds log.new_command[];
  evs log.new_event[];
  known integer[];
  refused integer[];
  failing integer[];
begin
  cmds := array(select row(c.n, c.command_id, c.organization_id, c.meta, c.fingerprint, c.http, c.rejection)::log.new_command
                from json_to_recordset(commands) as c(n integer, command_id text, organization_id uuid, meta text, fingerprint text, http text, rejection text));
  evs := array(select row(e.n, e.command, e.stream, e.version, e.type, e.shape, e.data, decode(e.sealed, 'base64'), e.thing)::log.new_event
               from json_to_recordset(events) as e(n integer, command integer, stream text, version integer, type text, shape smallint, data text, sealed text, thing text));

  select * into top from log.head for update;
  moment := clock_timestamp();

  known := array(select c.n from unnest(cmds) c join log.commands k on (k.command_id, k.organization_id) = (c.command_id, c.organization_id));
  -- the same command twice in one batch: the later one is tried again and then finds the outcome
  refused := array(select later.n from (select c.n, row_number() over (partition by c.command_id, c.organization_id order by c.n) as nth from unnest(cmds) c) later where later.nth > 1)
    || array(select k.command from json_to_recordset(keys) as k(command integer, thing text) join log.keys old on old.thing = k.thing
             where k.command <> all (known));

  -- per stream, the first command whose version does not follow; without it the next ones may fit, so look again
  loop
    failing := array(
      select distinct min(e.command) from (
        select e.command, e.stream, e.version, coalesce(s.version, 0) + row_number() over (partition by e.stream order by e.n) as next
        from unnest(evs) e left join log.streams s on s.stream = e.stream
        where e.command <> all (known) and e.command <> all (refused)
      ) e where e.version <> e.next group by e.stream);
    exit when cardinality(failing) = 0;
    refused := refused || failing;
  end loop;

  return query with
    placed as materialized (
      select e.*, c.organization_id, c.command_id, c.meta, top.position + row_number() over (order by e.n) as position
      from unnest(evs) e join unnest(cmds) c on c.n = e.command
      where e.command <> all (known) and e.command <> all (refused)
    ),
    chained as materialized (
      select p.*, log.chain(top.hash, log.line(p.position, p.stream, p.version, p.organization_id, p.type, p.shape, p.command_id, moment, p.meta, p.data, p.thing, p.sealed))
                    over (order by p.position) as hash
      from placed p
    ),
    written as (
      insert into log.events (position, stream, version, organization_id, type, shape, command_id, recorded_at, meta, data, sealed, thing, hash)
      select ch.position, ch.stream, ch.version, ch.organization_id, ch.type, ch.shape, ch.command_id, moment, ch.meta, ch.data, ch.sealed, ch.thing, ch.hash
      from chained ch
    ),
    moved as (
      update log.head set position = tip.position, hash = tip.hash
      from (select ch.position, ch.hash from chained ch order by ch.position desc limit 1) tip
    ),
    spans as materialized (
      select c.n, c.command_id, c.organization_id, c.fingerprint, c.http, c.rejection, min(p.position) as first, max(p.position) as last
      from unnest(cmds) c left join placed p on p.command = c.n
      where c.n <> all (known) and c.n <> all (refused)
      group by 1, 2, 3, 4, 5, 6
    ),
    answered as (
      insert into log.commands (command_id, organization_id, position, fingerprint, http, rejection, recorded_at)
      select s.command_id, s.organization_id, coalesce(s.last, 0), s.fingerprint, s.http, s.rejection, moment from spans s
    ),
    headed as (
      insert into log.streams as old (stream, organization_id, version, position, state, state_version, status, due_at, worker)
      select distinct on (h.stream) h.stream, c.organization_id, p.version, p.position, h.state, h.state_version, h.status, h.due_at, h.worker
      from json_to_recordset(heads) as h(command integer, stream text, state text, state_version integer, status text, due_at timestamptz, worker text)
      join unnest(cmds) c on c.n = h.command
      join placed p on p.stream = h.stream and p.command = h.command
      order by h.stream, p.position desc
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
    from unnest(cmds) c join log.commands k on (k.command_id, k.organization_id) = (c.command_id, c.organization_id) where c.n = any (known)
    union all
    select c.n, 'conflict', null, null, null, null, null, null
    from unnest(cmds) c where c.n = any (refused) and c.n <> all (known);

  if json_array_length(erasures) > 0 then
    delete from log.keys k using json_to_recordset(erasures) as e(command integer, thing text, stream text)
    where (k.thing = e.thing or k.stream = e.stream) and e.command <> all (known) and e.command <> all (refused);
  end if;
  if json_array_length(forgotten) > 0 then
    delete from log.commands c using json_to_recordset(forgotten) as f(command integer, command_id text), unnest(cmds) m
    where m.n = f.command and c.command_id = f.command_id and c.organization_id = m.organization_id and f.command <> all (known) and f.command <> all (refused);
  end if;
end $$;

-- Down Migration
