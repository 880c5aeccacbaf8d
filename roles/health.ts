import { access, constants, statfs } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { MeilisearchError } from "#infra/meilisearch/request.ts";
import { projections } from "#projections/index.ts";
import type { Resources } from "./resources.ts";

interface Health {
  ok: boolean;
  detail?: unknown;
}

/** A process that is busy answers its dependencies late; one that is cut off must be noticed within 5 s. */
const CHECK_TIMEOUT_MS = 4_000;

/** For everything together. */
const TOTAL_MS = 4_500;

export const OTHER_BUS = "This process uses another NATS than the other processes of its database: compare NATS_URL";

/** Runs one check. Never throws, and takes at most 4 s. */
async function runCheck(check: () => Promise<unknown>): Promise<Health> {
  try {
    const timeout = new Promise<never>((_, reject) =>
      setTimeout(() => reject(new Error(`no answer within ${CHECK_TIMEOUT_MS / 1_000} s`)), CHECK_TIMEOUT_MS).unref(),
    );
    return { ok: true, detail: await Promise.race([check(), timeout]) };
  } catch (error) {
    return { ok: false, detail: error instanceof Error ? error.message : String(error) };
  }
}

/** A standby and a database whose disk is full answer queries, and refuse every write. */
async function checkPostgres({ db }: Resources): Promise<string> {
  const [row] = await db.query<{ version: string; read_only: string }>(
    "select current_setting('server_version') as version, current_setting('transaction_read_only') as read_only",
  );
  if (row!.read_only === "on") throw new Error("The database is read-only.");
  return row!.version;
}

async function checkProjections({ db }: Resources): Promise<Record<string, Health>> {
  const rows = await db.query<{ name: string; version: number; lag: number; parked: number }>(
    `select c.name, c.version, h.position - c.position as lag, (select count(*) from log.parked p where p.projection = c.name) as parked
     from log.checkpoints c, log.head h`,
  );
  const found = new Map(rows.map((row) => [row.name, row]));
  return Object.fromEntries(
    projections.map(({ name, version }) => {
      const row = found.get(name);
      // a newer version only adds to the tables, so this one can read them
      if (!row || row.version < version)
        return [`projection ${name}`, { ok: false, detail: `version ${version} is not built yet` }];
      // lag and parked streams are shown but do not fail: one tenant must not take the service from the others
      return [`projection ${name}`, { ok: true, detail: { lag: row.lag, parked: row.parked } }];
    }),
  );
}

/** Answers whether an index of the search server still has what was put into it. */
interface IndexCheck {
  has(index: string): Promise<boolean>;
}

/** Search fails while its index is missing, empty or damaged. The check of the server itself notices one that does not answer. */
async function checkPassageIndex({ db }: Resources, engine: IndexCheck): Promise<Record<string, Health>> {
  const [row] = await db.query<{ index_id: string | null; lag: number }>(
    `select s.index_id, h.position - coalesce(c.position, 0) as lag from log.head h
     left join log.checkpoints c on c.name = 'passages' left join ops.search_index s on s.name = 'passages'`,
  );
  const { index_id, lag } = row!;
  const lost =
    index_id !== null && !(await engine.has(index_id).catch((error) => !(error instanceof MeilisearchError)));
  return { "index passages": { ok: !lost, detail: { lag, index: index_id, ...(lost && { lost }) } } };
}

/**
 * Free space of the blobs' disk, as a share; none where nothing can be written. Such a disk refuses uploads, but nothing else, so it
 * does not fail.
 */
async function readDisk(folder: string): Promise<{ free: number; problem?: string }> {
  const blobs = join(folder, "blobs");
  try {
    const { bavail, blocks } = await statfs(blobs);
    await access(blobs, constants.W_OK);
    return { free: bavail / blocks };
  } catch (error) {
    return { free: 0, problem: `nothing can be written: ${(error as NodeJS.ErrnoException).code}` };
  }
}

/** The health of every dependency and every follower, by name. */
export async function readHealth(resources: Resources, engine: IndexCheck): Promise<Record<string, Health>> {
  const { bus, sameBus, addresses, settings } = resources;
  const began = performance.now();
  const [postgres, nats, commands, meilisearch, disk] = await Promise.all([
    runCheck(() => checkPostgres(resources)),
    runCheck(async () => {
      const health = await bus.health();
      if (!health.connected) throw new Error("not connected");
      if (!sameBus.isOpen()) throw new Error(OTHER_BUS);
      const unread = Object.keys(health.streams).filter((name) => !health.streams[name]);
      if (unread.length > 0) throw new Error(`JetStream does not answer for ${unread.join(", ")}`);
      return health;
    }),
    runCheck(() => bus.checkDelivery()),
    runCheck(async () => {
      const response = await fetch(new URL("/health", addresses.meili_url));
      if (!response.ok) throw new Error(`answered ${response.status}`);
      return ((await response.json()) as { status: string }).status;
    }),
    runCheck(() => readDisk(settings.DATA_DIR)),
  ]);
  // a server that was silent would be silent again, and the whole check must end within 5 s
  const index = async () => (meilisearch.ok ? checkPassageIndex(resources, engine) : {});
  const left = Math.max(0, TOTAL_MS - (performance.now() - began));
  const followed = postgres.ok
    ? await Promise.race([
        Promise.all([checkProjections(resources), index()]).catch(() => []),
        sleep(left, [], { ref: false }),
      ])
    : [];
  return Object.assign({ postgres, nats, commands, meilisearch, disk }, ...followed);
}
