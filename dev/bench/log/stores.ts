import { randomBytes } from "node:crypto";
import { openKeyring } from "../../../infra/keyring.ts";
import { openLog } from "../../../infra/postgres/log.ts";
import { openPool } from "../../../infra/postgres/pool.ts";
import { turnAppend } from "./payload.ts";

/** An event store under test. */
export interface Store {
  name: string;
  /** Appends one event to a new stream; throws unless it is committed. */
  append(): Promise<void>;
  /** The number of stored events. */
  count(): Promise<number>;
  close(): Promise<void>;
}

const CONNECTIONS = 12;

/** The log as the service uses it: it validates events, seals them with a new data key, extends the hash chain, and writes outcome and head rows. */
export const openOwnStore = (url: string): Store => {
  const pool = openPool(url, { max: CONNECTIONS, name: "bench" });
  const log = openLog(pool, openKeyring(randomBytes(32)));
  return {
    name: "this log",
    async append() {
      const { kind } = await log.append(turnAppend());
      if (kind !== "committed") throw new Error(`an append to a new stream returned ${kind}`);
    },
    count: async () => Number((await pool.query("select count(*) as n from log.events")).rows[0].n),
    close: () => pool.end(),
  };
};

/** The part of Emmett that the bench uses. Its packages are installed only in dev/bench/. */
interface Emmett {
  getPostgreSQLEventStore(url: string, options: unknown): EmmettStore;
}

interface EmmettStore {
  schema: { migrate(): Promise<unknown> };
  appendToStream(stream: string, events: unknown[], options: unknown): Promise<{ nextExpectedStreamVersion: bigint }>;
  close(): Promise<void>;
}

const EMMETT = "@event-driven-io/emmett-postgresql";

/** Emmett's store with the same events as plain JSON; `connections` is its pool size. */
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
      if (nextExpectedStreamVersion !== 1n) throw new Error(`Emmett returned version ${nextExpectedStreamVersion}`);
    },
    count: async () => Number((await pool.query("select count(*) as n from emt_messages")).rows[0].n),
    async close() {
      await store.close();
      await pool.end();
    },
  };
};
