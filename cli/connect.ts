import pg from "pg";
import pino, { type Logger } from "pino";
import { Unavailable } from "#events/ports.ts";
import { readSettings, type Settings } from "#infra/config.ts";
import { runningAddresses } from "#infra/embedded/addresses.ts";
import { openKeyring } from "#infra/keyring.ts";
import { loadMasterKey } from "#infra/masterKey.ts";
import { connectBus, type Bus } from "#infra/nats/connect.ts";
import { waitForGreeting } from "#infra/nats/greeting.ts";
import { openLog } from "#infra/postgres/log.ts";
import { asDb, openPool } from "#infra/postgres/pool.ts";
import { explainError } from "./explainError.ts";
import { CliError } from "./cliError.ts";

const VARIABLES = { database_url: "DATABASE_URL", nats_url: "NATS_URL", meili_url: "MEILI_URL" } as const;
const GREETING_TIMEOUT_MS = 3_000;

/** A server's address, from the settings or from the running embedded server. Throws CliError. */
export function serviceAddress(settings: Settings, service: keyof typeof VARIABLES): string {
  const address = settings[VARIABLES[service]] ?? runningAddresses(settings.DATA_DIR)?.[service];
  if (address) return address;
  const next = `start the service with npm start, or set ${VARIABLES[service]}`;
  throw new CliError(`No service is running on ${settings.DATA_DIR}`, next);
}

/** Host and port of an address, without user and password. */
export const displayHost = (address: string): string => new URL(address).host;

/** The same of each NATS server. */
const displayHosts = (addresses: string): string =>
  addresses
    .split(",")
    .map((each) => displayHost(each.trim()))
    .join(", ");

/** Whether a NATS server greets at one of the addresses, which are separated by commas. */
async function hasGreeting(address: string): Promise<boolean> {
  const attempts = address.split(",").map((each) => {
    const { hostname, port } = new URL(each.trim());
    return waitForGreeting(hostname.replace(/^\[|\]$/g, ""), Number(port || 4222), GREETING_TIMEOUT_MS);
  });
  return Promise.any(attempts).then(
    () => true,
    () => false,
  );
}

const noLog = (address: string): CliError =>
  new CliError(
    `The database at ${displayHost(address)} has no event log yet`,
    "start the service once, which creates it",
  );

/** Says why PostgreSQL cannot be used. Unavailable is what clients get; its cause has the reason, such as a certificate that is not trusted. */
export function describeUnusable(address: string, error: unknown): string {
  const reason = error instanceof Unavailable && error.cause !== undefined ? error.cause : error;
  return `PostgreSQL at ${displayHost(address)} cannot be used (${explainError(reason)})`;
}

function unusable(address: string, cause: unknown): CliError {
  const next = "check that it runs and that DATABASE_URL is correct";
  return new CliError(describeUnusable(address, cause), next, { cause });
}

const NO_TABLE = "42P01";
/** System calls that fail if nothing listens at an address, or its host name is unknown. */
const CONNECTING = ["connect", "getaddrinfo"];

/** Throws errors of PostgreSQL and of the connection as a CliError that names DATABASE_URL; others, such as disk errors, unchanged. */
export function throwExplained(address: string, error: unknown): never {
  const { code, syscall } = (error instanceof AggregateError ? error.errors[0] : error) as NodeJS.ErrnoException;
  if (code === NO_TABLE) throw noLog(address);
  if (error instanceof pg.DatabaseError || error instanceof Unavailable || CONNECTING.includes(syscall ?? ""))
    throw unusable(address, error);
  throw error;
}

/** Opens a PostgreSQL database that contains the log. Throws CliError. */
export async function openDatabase(settings: Settings) {
  const address = serviceAddress(settings, "database_url");
  const pool = openPool(address, { max: 4, name: "svc tool" });
  const db = asDb(pool);
  try {
    const [found] = await db.query<{ there: boolean }>("select to_regclass('log.head') is not null as there");
    if (!found!.there) throw noLog(address);
  } catch (error) {
    await pool.end();
    throw error instanceof CliError ? error : unusable(address, error);
  }
  return { settings, pool, db };
}

export type Database = Awaited<ReturnType<typeof openDatabase>>;

/** Adds the log, opened with the master key. Throws MasterKeyError when the key is wrong. */
export async function openLogAccess(database: Database) {
  const { key } = await loadMasterKey(database.settings, database.db);
  const keyring = openKeyring(Buffer.from(key, "base64"));
  return { ...database, keyring, log: openLog(database.pool, keyring) };
}

export type LogAccess = Awaited<ReturnType<typeof openLogAccess>>;

/** Connects to the bus. Throws CliError within seconds if no server answers. */
export async function openBus(settings: Settings, log: Logger = pino({ level: "silent" })): Promise<Bus> {
  const address = serviceAddress(settings, "nats_url");
  const next = "check that it runs and that NATS_URL is correct";
  if (!(await hasGreeting(address))) throw new CliError(`NATS at ${displayHosts(address)} does not answer`, next);
  const limits = { replicas: settings.NATS_REPLICAS };
  return connectBus({ url: address, prefix: settings.BUS_PREFIX, name: "svc tool", log, limits }).catch((cause) => {
    throw new CliError(`NATS at ${displayHosts(address)} cannot be used (${explainError(cause)})`, next, { cause });
  });
}

/** Runs a tool's work on the configured database, and closes it. */
export async function withDatabase<T>(work: (database: Database) => Promise<T>): Promise<T> {
  const database = await openDatabase(readSettings(process.env));
  try {
    return await work(database);
  } finally {
    await database.pool.end();
  }
}

/** Like withDatabase, for work that seals or opens events. */
export const withLogAccess = <T>(work: (sealed: LogAccess) => Promise<T>): Promise<T> =>
  withDatabase(async (database) => work(await openLogAccess(database)));

/** Runs a tool's work on the configured bus, and closes it. */
export async function withBus<T>(work: (bus: Bus) => Promise<T>): Promise<T> {
  const bus = await openBus(readSettings(process.env));
  try {
    return await work(bus);
  } finally {
    await bus.close();
  }
}
