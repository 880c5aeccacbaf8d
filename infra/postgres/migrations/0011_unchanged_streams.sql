-- Up Migration

-- Appends a batch only if every named stream still has the version that its commands were decided on: a deletion that looked at the
-- holds of its organization conflicts when one was placed since. The lock of the log orders both. A conflict is for the whole batch.
create function log.append_unchanged(unchanged json, commands json, events json, heads json, keys json, erasures json, forgotten json)
returns table (n integer, kind text, first bigint, last bigint, at timestamptz, stored_position bigint, stored_fingerprint text, stored_rejection text)
language plpgsql
set enable_seqscan = off
as $$
begin
  perform from log.head for update;
  if exists (
    select from json_to_recordset(unchanged) as u(stream text, version integer)
    left join lateral (select old.version from log.streams old where old.stream = u.stream offset 0) s on true
    where coalesce(s.version, 0) <> u.version
  ) then
    return query select c.n, 'conflict', null::bigint, null::bigint, null::timestamptz, null::bigint, null::text, null::text
      from json_to_recordset(commands) as c(n integer);
    return;
  end if;
  return query select * from log.append(commands, events, heads, keys, erasures, forgotten);
end $$;

-- Down Migration
