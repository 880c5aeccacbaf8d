import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { Meilisearch } from "meilisearch";
import pg from "pg";
import type { Addresses } from "#infra/embedded/addresses.ts";

type ServerAddresses = Pick<Addresses, "database_url" | "nats_url" | "meili_url" | "meili_master_key">;

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

const search = ({ meili_url, meili_master_key }: ServerAddresses) =>
  new Meilisearch({ host: meili_url, apiKey: meili_master_key }).index<{ id: number; word: string }>("words");

/** Stores one word in each of the three servers. */
export const storeWord = async (addresses: ServerAddresses, word: string) => {
  await inDatabase(addresses.database_url, `create table words as select '${word}' as word`);
  await onBus(addresses.nats_url, async (connection) => {
    await (await jetstreamManager(connection)).streams.add({ name: "WORDS", subjects: ["word"] });
    await jetstream(connection).publish("word", word);
  });
  await search(addresses)
    .addDocuments([{ id: 1, word }])
    .waitTask({ timeout: 20_000 });
};

/** The words found in PostgreSQL, NATS and Meilisearch, in this order. */
export const findWords = async (addresses: ServerAddresses) => {
  const [row] = await inDatabase(addresses.database_url, "select word from words");
  const message = await onBus(addresses.nats_url, async (connection) =>
    (await jetstreamManager(connection)).streams.getMessage("WORDS", { seq: 1 }),
  );
  return [row?.word, message?.string(), (await search(addresses).getDocument(1)).word];
};
