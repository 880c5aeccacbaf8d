import { randomBytes } from "node:crypto";
import { openKeyring } from "../../infra/keyring.ts";
import { openLog } from "../../infra/postgres/log.ts";
import { openPool } from "../../infra/postgres/pool.ts";
import { turnAppend } from "./payload.ts";

/** Something that keeps events. */
export interface Store {
  name: string;
  /** One event into a new stream; throws unless it is committed. */
  append(): Promise<void>;
  /** How many events it holds. */
  count(): Promise<number>;
  close(): Promise<void>;
}

const CONNECTIONS = 12;

/** The log as the service uses it: validated, sealed with a data key of its own, chained, with outcome and head rows. */
export const openOwnStore = (url: string): Store => {
  const pool = openPool(url, { max: CONNECTIONS, name: "bench" });
  const log = openLog(pool, openKeyring(randomBytes(32)));
  return {
    name: "this log",
    async append() {
      const { kind } = await log.append(turnAppend());
      if (kind !== "committed") throw new Error(`an append to a new stream was answered ${kind}`);
    },
    count: async () => Number((await pool.query("select count(*) as n from log.events")).rows[0].n),
    close: () => pool.end(),
  };
};

/** What the bench uses of Emmett; its packages are installed in bench/ only. */
interface Emmett {
  getPostgreSQLEventStore(url: string, options: unknown): EmmettStore;
}

interface EmmettStore {
  schema: { migrate(): Promise<unknown> };
  appendToStream(stream: string, events: unknown[], options: unknown): Promise<{ nextExpectedStreamVersion: bigint }>;
  close(): Promise<void>;
}

const EMMETT = "@event-driven-io/emmett-postgresql";

/** Emmett's store with the same events as plain JSON; `connections` is its pool's size. */
export const openEmmett = async (url: string, connections: number): Promise<Store> => {
  const { getPostgreSQLEventStore } = (await import(EMMETT)) as Emmett;
  const pool = openPool(url, { max: connections, name: "bench emmett" });
  const store = getPostgreSQLEventStore(url, { connectionOptions: { pool } });
  await store.schema.migrate();
  return {
    name: "emmett",
    async append() {
      const [item] = turnAppend().events;
      if (!item) throw new Error("nothing to append");
      const { type, data, personal } = item.event;
      const event = { type, data: { ...(data as object), ...(personal as object) } };
      const { nextExpectedStreamVersion } = await store.appendToStream(item.stream, [event], {
        expectedStreamVersion: "STREAM_DOES_NOT_EXIST",
      });
      if (nextExpectedStreamVersion !== 1n) throw new Error(`Emmett answered version ${nextExpectedStreamVersion}`);
    },
    count: async () => Number((await pool.query("select count(*) as n from emt_messages")).rows[0].n),
    async close() {
      await store.close();
      await pool.end();
    },
  };
};
