import pg from "pg";

/** Queries the database over a separate connection. */
export async function ask<T>(url: string, question: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
  client.on("error", () => {});
  await client.connect();
  try {
    return await question(client);
  } finally {
    await client.end().catch(() => {});
  }
}
