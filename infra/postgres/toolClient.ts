import pg from "pg";
import { Unavailable } from "#events/ports.ts";
import { types } from "./pool.ts";

/** Timeout for connecting: a stopped server, or one whose answers are lost in the network, accepts the connection and stays silent. */
const CONNECT_MS = 5_000;

/** Replaces the driver's error for this, which has no code. */
const explainSilence = (error: Error): Error =>
  /timeout/.test(error.message) ? new Unavailable(`no answer within ${CONNECT_MS / 1_000} s`) : error;

/**
 * Runs work on a dedicated connection for a command-line tool. Throws PostgreSQL's or the network's error, or Unavailable if
 * neither comes within five seconds.
 */
export async function withToolClient<T>(
  databaseUrl: string,
  name: string,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    application_name: name,
    connectionTimeoutMillis: CONNECT_MS,
    types,
  });
  client.on("error", () => {});
  await client.connect().catch((error: Error) => Promise.reject(explainSilence(error)));
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
