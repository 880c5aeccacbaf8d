import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { Meilisearch } from "meilisearch";
import pg from "pg";
import type { Addresses } from "#infra/embedded/addresses.ts";

type Where = Pick<Addresses, "database_url" | "nats_url" | "meili_url" | "meili_master_key">;

const inDatabase = async (url: string, statement: string) => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(statement)).rows as { word: string }[];
  } finally {
    await client.end();
  }
};

const onBus = async <T>(url: string, use: (connection: Awaited<ReturnType<typeof connect>>) => Promise<T>) => {
  const { host, username, password } = new URL(url);
  const connection = await connect({ servers: host, user: username, pass: password });
  try {
    return await use(connection);
  } finally {
    await connection.close();
  }
};

const search = ({ meili_url, meili_master_key }: Where) =>
  new Meilisearch({ host: meili_url, apiKey: meili_master_key }).index<{ id: number; word: string }>("words");

/** Leaves one word in each of the three services. */
export const leaveWord = async (where: Where, word: string) => {
  await inDatabase(where.database_url, `create table words as select '${word}' as word`);
  await onBus(where.nats_url, async (connection) => {
    await (await jetstreamManager(connection)).streams.add({ name: "WORDS", subjects: ["word"] });
    await jetstream(connection).publish("word", word);
  });
  await search(where)
    .addDocuments([{ id: 1, word }])
    .waitTask({ timeout: 20_000 });
};

/** The words found in PostgreSQL, NATS and Meilisearch, in this order. */
export const findWords = async (where: Where) => {
  const [row] = await inDatabase(where.database_url, "select word from words");
  const message = await onBus(where.nats_url, async (connection) =>
    (await jetstreamManager(connection)).streams.getMessage("WORDS", { seq: 1 }),
  );
  return [row?.word, message?.string(), (await search(where).getDocument(1)).word];
};
