import { readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { jetstreamManager } from "@nats-io/jetstream";
import { pino } from "pino";
import { openConnection } from "#infra/nats/connection.ts";

const removeDatabases = async (url: string, run: string): Promise<void> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ name: string }>(
    "select datname as name from pg_database where starts_with(datname, $1)",
    [run],
  );
  for (const { name } of rows) await client.query(`drop database if exists ${name} with (force)`);
  await client.end();
};

const removeStreams = async (url: string, run: string): Promise<void> => {
  const { nc } = await openConnection({ url, name: "leftovers", log: pino({ level: "silent" }) });
  const { streams } = await jetstreamManager(nc, { checkAPI: false });
  for await (const name of streams.names()) if (name.startsWith(run.toUpperCase())) await streams.delete(name);
  await nc.close();
};

/** Removes the databases, streams and folders that lived as long as a run of tests. Its workers have ended. */
export async function removeLeftovers(at: { database_url: string; nats_url: string }, run: string): Promise<void> {
  await removeDatabases(at.database_url, run);
  await removeStreams(at.nats_url, run);
  for (const name of await readdir(tmpdir()))
    if (name.startsWith(run)) await rm(join(tmpdir(), name), { recursive: true, force: true });
}
