import pg from "pg";
import type { Db } from "#projections/projection.ts";
import { findMigrations, type Migrations } from "./migrate.ts";
import { withToolClient } from "./toolClient.ts";
import type { ChainTip } from "./verify.ts";

/** Read models are left out, because they are rebuilt from the log. */
const SCHEMAS = ["log", "ops"];
const TABLES = `
  select format('%I.%I', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = any ($1) and c.relkind = 'r' order by 1`;
/** Rows fetched or inserted at once. */
const ROWS = 500;

/** The log and the operational tables at one moment. */
export interface Snapshot {
  /** The last position and hash of the log in it. */
  tip: ChainTip;
  migrations: string[];
  tables: string[];
  /** The rows of a table as JSON, in pieces of several lines. */
  rows(table: string): AsyncGenerator<string>;
}

const listTables = async (client: pg.Client): Promise<string[]> =>
  (await client.query<{ name: string }>(TABLES, [SCHEMAS])).rows.map(({ name }) => name);

async function* fetchRows(client: pg.Client, table: string): AsyncGenerator<string> {
  await client.query(`declare dumped no scroll cursor for select row_to_json(t)::text as line from ${table} t`);
  for (;;) {
    const { rows } = await client.query<{ line: string }>(`fetch ${ROWS} from dumped`);
    if (rows.length === 0) break;
    yield rows.map(({ line }) => `${line}\n`).join("");
  }
  await client.query("close dumped");
}

const withClient = <T>(databaseUrl: string, work: (client: pg.Client) => Promise<T>): Promise<T> =>
  withToolClient(databaseUrl, "svc backup", work);

/** Runs work on one snapshot while the service continues. */
export const withSnapshot = <T>(databaseUrl: string, work: (snapshot: Snapshot) => Promise<T>): Promise<T> =>
  withClient(databaseUrl, async (client) => {
    await client.query("begin isolation level repeatable read read only");
    const { rows } = await client.query<ChainTip>("select position, encode(hash, 'hex') as hash from log.head");
    const [tip] = rows as [ChainTip];
    const { applied } = await findMigrations(client);
    return work({
      tip,
      migrations: applied,
      tables: await listTables(client),
      rows: (table) => fetchRows(client, table),
    });
  });

/** The migrations of a database into which something will be loaded. */
export const inspectTargetDatabase = (databaseUrl: string): Promise<Migrations & { position: number }> =>
  withClient(databaseUrl, async (client) => {
    const migrations = await findMigrations(client);
    if (migrations.applied.length === 0) return { ...migrations, position: 0 };
    const { rows } = await client.query<{ position: number }>("select position from log.head");
    return { ...migrations, position: rows[0]!.position };
  });

/** A table and its rows as JSON, one per line. */
export interface DumpedTable {
  name: string;
  lines: AsyncIterable<string>;
}

/** A row of a dump does not fit its table. */
export class UnloadableRow extends Error {
  readonly table: string;
  constructor(table: string, cause: Error) {
    super(cause.message, { cause });
    this.name = "UnloadableRow";
    this.table = table;
  }
}

/** SQLSTATE classes: data exception, integrity violation, syntax error or missing table or column, program limit. */
const WRONG_ROWS = /^(22|23|42|54)/;

async function loadTable(client: pg.Client, { name, lines }: DumpedTable): Promise<void> {
  await client.query(`delete from ${name}`);
  const insert = `insert into ${name} select * from json_populate_recordset(null::${name}, $1)`;
  let batch: string[] = [];
  const flush = async () => {
    if (batch.length > 0)
      await client.query(insert, [`[${batch.join()}]`]).catch((error: pg.DatabaseError) => {
        throw WRONG_ROWS.test(error.code ?? "") ? new UnloadableRow(name, error) : error;
      });
    batch = [];
  };
  for await (const line of lines) {
    batch.push(line);
    if (batch.length === ROWS) await flush();
  }
  await flush();
}

/**
 * Loads tables into an empty database that has the migrations of the dump, in one transaction. Rolls back if `check`, which sees
 * the written rows, throws. Omits the read models' checkpoints, so that they are rebuilt. Throws UnloadableRow, also for tables
 * that the database does not have.
 */
export const loadDump = (
  databaseUrl: string,
  tables: DumpedTable[],
  check: (written: Pick<Db, "query">) => Promise<void>,
): Promise<void> =>
  withClient(databaseUrl, async (client) => {
    const known = await listTables(client);
    const unknown = tables.find(({ name }) => !known.includes(name));
    // the name becomes part of a statement
    if (unknown) throw new UnloadableRow(unknown.name, new Error("the database has no such table"));
    await client.query("begin");
    for (const table of tables) await loadTable(client, table);
    await client.query("delete from log.checkpoints where name not in ('reactions', 'feed', 'passages')");
    await check({ query: async (text, values) => (await client.query(text, values)).rows });
    await client.query("commit");
  });
