-- Up Migration

-- log.append_new for commands of which some also destroy data keys: those of the named things, and those of everything in the named streams.
create function log.append_new_erasing(
  command_ids text[], organizations text[], metas text[], fingerprints text[], https text[], rejections text[], lasts integer[],
  commands integer[], streams text[], versions integer[], types text[], shapes integer[], datas text[], seals bytea[], things text[],
  head_events integer[], befores integer[], states text[], state_versions integer[], statuses text[], dues text[], workers text[],
  key_things text[], key_streams text[], key_wrappeds text[], erased_things text[], erased_streams text[]
)
returns table (base bigint, at timestamptz)
language plpgsql
as $$
begin
  select new.base, new.at into base, at from log.append_new(
    command_ids, organizations, metas, fingerprints, https, rejections, lasts, commands, streams, versions, types, shapes, datas, seals, things,
    head_events, befores, states, state_versions, statuses, dues, workers, key_things, key_streams, key_wrappeds) new;
  if not found then
    return;
  end if;
  -- row by row, so that a kept plan looks each of them up by index
  for n in 1..cardinality(erased_things) loop
    delete from log.keys k where k.thing = erased_things[n];
  end loop;
  for n in 1..cardinality(erased_streams) loop
    delete from log.keys k where k.stream = erased_streams[n];
  end loop;
  return next;
end $$;

-- Down Migration
