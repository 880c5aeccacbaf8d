-- A role that reads one organization at a time. Run it once as the user of DATABASE_URL, then create logins for it:
--   create role reports login password '…' in role svc_reader;
-- A session sees nothing until it names its organization: set app.organization_id = '…';
create role svc_reader nologin;
grant usage on schema read to svc_reader;
grant select on all tables in schema read to svc_reader;
-- A rebuilt read model has new tables. Where `svc migrate --service-role` let another role run the service, that role creates
-- them: alter default privileges for role <that role> …
alter default privileges grant select on tables to svc_reader;
