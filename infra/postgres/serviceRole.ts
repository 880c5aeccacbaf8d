import pg from "pg";
import { withToolClient } from "./toolClient.ts";

/** The version that introduced the right to analyze a table (MAINTAIN). Before it, only autovacuum updates the statistics. */
const MAINTAIN_SINCE = 170_000;

/** Lets the role read and write all tables of the log and the operations, but never change or delete an event. */
const grants = (role: string, database: string, maintains: boolean): string[] => [
  `grant usage on schema log, ops to ${role}`,
  `grant select, insert, update, delete${maintains ? ", maintain" : ""} on all tables in schema log, ops to ${role}`,
  `revoke update, delete on log.events from ${role}`,
  `grant select on svc_migrations to ${role}`,
  // The service builds read models in schemas of its own, moves them into this one, and drops the old ones.
  `grant usage, create on schema read to ${role}`,
  `grant create on database ${database} to ${role}`,
];

/** The tables that the role cannot use yet. Changing the others again would lock them, and could deadlock with a running service. */
const UNSECURED = `
  select format('%I.%I', n.nspname, c.relname) as table, n.nspname = 'read' as rebuilt
  from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_roles r on r.rolname = $1
  where n.nspname in ('log', 'ops', 'read') and c.relkind = 'r' and case when n.nspname = 'read' then c.relowner <> r.oid
    else not exists (select from pg_policy p where p.polrelid = c.oid and p.polname = 'of_service' and r.oid = any(p.polroles)) end`;

/** Row-level security applies to everybody but the owner, so the role needs a policy for tables it does not own. */
const admission = (role: string, table: string): string[] => [
  `drop policy if exists of_service on ${table}`,
  `create policy of_service on ${table} to ${role} using (true) with check (true)`,
];

/**
 * Grants a role what the service needs on a migrated database, in one transaction. Repeat it after each migration. The role owns
 * the read models, which can be rebuilt, but neither the log nor the operations. The connecting user owns those and, unless it is a
 * superuser, is a member of the role. Throws PostgreSQL's error if the role does not exist or the user lacks a right.
 */
export const grantServiceRole = (databaseUrl: string, role: string): Promise<void> =>
  withToolClient(databaseUrl, "svc migrate", async (client) => {
    const name = pg.escapeIdentifier(role);
    const { rows: servers } = await client.query<{ database: string; version: number }>(
      "select current_database() as database, current_setting('server_version_num')::int as version",
    );
    const { database, version } = servers[0]!;
    await client.query("begin");
    for (const grant of grants(name, pg.escapeIdentifier(database), version >= MAINTAIN_SINCE))
      await client.query(grant);
    const { rows } = await client.query<{ table: string; rebuilt: boolean }>(UNSECURED, [role]);
    for (const { table, rebuilt } of rows) {
      const statements = rebuilt ? [`alter table ${table} owner to ${name}`] : admission(name, table);
      for (const statement of statements) await client.query(statement);
    }
    await client.query("commit");
  });
