import { connect as dial } from "node:net";
import pino, { type Logger } from "pino";
import { readSettings, type Settings } from "#infra/config.ts";
import { runningAddresses } from "#infra/embedded/addresses.ts";
import { openKeyring } from "#infra/keyring.ts";
import { masterKey } from "#infra/masterKey.ts";
import { connectBus, type Bus } from "#infra/nats/connect.ts";
import { openLog } from "#infra/postgres/log.ts";
import { asDb, openPool } from "#infra/postgres/pool.ts";
import { explain } from "./explain.ts";
import { Problem } from "./problem.ts";

const VARIABLES = { database_url: "DATABASE_URL", nats_url: "NATS_URL", meili_url: "MEILI_URL" } as const;
const DIAL_MS = 3_000;

/** Where a service is: the setting's address, else that of the running service's own. Throws one line that says what to do. */
export function addressOf(settings: Settings, service: keyof typeof VARIABLES): string {
  const address = settings[VARIABLES[service]] ?? runningAddresses(settings.DATA_DIR)?.[service];
  if (address) return address;
  const next = `start the service with npm start, or set ${VARIABLES[service]} to the one to use`;
  throw new Problem(`No service is running on ${settings.DATA_DIR}`, next);
}

/** The address as it may be shown: without user and password. */
export const hostOf = (address: string): string =>
  address
    .split(",")
    .map((each) => new URL(each.trim()).host)
    .join(", ");

/** Whether a NATS server greets at one of the addresses (several with commas between): one that stands still only accepts connections. */
async function greets(address: string): Promise<boolean> {
  const attempts = address.split(",").map((each) => {
    const { hostname, port } = new URL(each.trim());
    const socket = dial({ host: hostname.replace(/^\[|\]$/g, ""), port: Number(port || 4222), timeout: DIAL_MS });
    return new Promise<void>((resolve, reject) => {
      socket.once("data", () => resolve()).once("error", reject);
      socket.once("close", () => reject(new Error("closed without a greeting")));
      socket.once("timeout", () => reject(new Error("no answer in time")));
    }).finally(() => socket.destroy());
  });
  return Promise.any(attempts).then(
    () => true,
    () => false,
  );
}

/** PostgreSQL with a log in it. Throws one line otherwise. */
export async function openDatabase(settings: Settings) {
  const address = addressOf(settings, "database_url");
  const pool = openPool(address, { max: 4, name: "svc tool" });
  const db = asDb(pool);
  try {
    const [found] = await db.query<{ there: boolean }>("select to_regclass('log.head') is not null as there");
    if (!found!.there)
      throw new Problem(
        `The database at ${hostOf(address)} has no event log yet`,
        "start the service once, it makes one",
      );
  } catch (error) {
    await pool.end();
    if (error instanceof Problem) throw error;
    const next = "see that it runs and that DATABASE_URL is right";
    throw new Problem(`PostgreSQL at ${hostOf(address)} cannot be used (${explain(error)})`, next, { cause: error });
  }
  return { settings, pool, db };
}

export type Database = Awaited<ReturnType<typeof openDatabase>>;

/** The log of a database, with the key that it was written with. Throws one line when this environment has another. */
export async function openSealed(database: Database) {
  const { key } = await masterKey(database.settings, database.db);
  const keyring = openKeyring(Buffer.from(key, "base64"));
  return { ...database, keyring, log: openLog(database.pool, keyring) };
}

export type Sealed = Awaited<ReturnType<typeof openSealed>>;

/** The bus, with its streams. Throws one line, within seconds when no server greets. */
export async function openBus(settings: Settings, log: Logger = pino({ level: "silent" })): Promise<Bus> {
  const address = addressOf(settings, "nats_url");
  const next = "see that it runs and that NATS_URL is right";
  if (!(await greets(address))) throw new Problem(`NATS at ${hostOf(address)} does not answer`, next);
  const limits = { replicas: settings.NATS_REPLICAS };
  return connectBus({ url: address, prefix: settings.BUS_PREFIX, name: "svc tool", log, limits }).catch((cause) => {
    throw new Problem(`NATS at ${hostOf(address)} cannot be used (${explain(cause)})`, next, { cause });
  });
}

/** Runs a tool's work on the database that this environment means, and closes it. */
export async function withDatabase<T>(work: (database: Database) => Promise<T>): Promise<T> {
  const database = await openDatabase(readSettings(process.env));
  try {
    return await work(database);
  } finally {
    await database.pool.end();
  }
}

/** The same for work that seals or opens. */
export const withSealed = <T>(work: (sealed: Sealed) => Promise<T>): Promise<T> =>
  withDatabase(async (database) => work(await openSealed(database)));

/** Runs a tool's work on the bus that this environment means, and closes it. */
export async function withBus<T>(work: (bus: Bus) => Promise<T>): Promise<T> {
  const bus = await openBus(readSettings(process.env));
  try {
    return await work(bus);
  } finally {
    await bus.close();
  }
}
