-- Up Migration

/*
 * Row-level security for everybody but the owner of the tables, which is the service: for it nothing changes. Another user sees
 * the rows of the organization in app.organization_id, in tables that say whose their rows are; otherwise nothing. Tables with
 * hashes or sealed bytes of credentials show nothing at all.
 */
create function ops.protect_table(name regclass) returns void language plpgsql as $$
begin
  execute format('alter table %s enable row level security', name);
  if (select relname from pg_class where oid = name) not in ('keys', 'providers', 'sessions', 'triggers', 'users')
     and exists (select from pg_attribute where attrelid = name and attname = 'organization_id' and not attisdropped) then
    execute format(
      'create policy of_organization on %s for select using (organization_id = nullif(current_setting(''app.organization_id'', true), '''')::uuid)',
      name);
  end if;
end $$;

select ops.protect_table(c.oid) from pg_class c join pg_namespace n on n.oid = c.relnamespace
where n.nspname in ('log', 'ops', 'read') and c.relkind = 'r';

-- Down Migration
