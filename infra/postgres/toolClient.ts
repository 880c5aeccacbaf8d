import pg from "pg";
import { Unavailable } from "#events/ports.ts";
import { types } from "./pool.ts";

/** A server that is stopped, or whose answers the network loses, takes the connection and says nothing. */
const CONNECT_MS = 5_000;

/** What the driver says then has no code. */
const explainSilence = (error: Error): Error =>
  /timeout/.test(error.message) ? new Unavailable(`no answer within ${CONNECT_MS / 1_000} s`, { cause: error }) : error;

/**
 * A connection of its own for a tool's work. Throws the error of PostgreSQL or of the network, and Unavailable if neither comes
 * within five seconds.
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
