-- Up Migration

-- A program that lacks one of these migrations refuses to start on this database. A migration that only adds leaves this table
-- alone, so that the version before runs on. One that takes something away names the migration of the first version that can do without.
create table ops.required_migrations (
  name text primary key
);

select ops.protect_table('ops.required_migrations');

-- Down Migration
