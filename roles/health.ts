import { setTimeout as sleep } from "node:timers/promises";
import { joinUrl } from "#infra/joinUrl.ts";
import { MeilisearchError } from "#infra/meilisearch/request.ts";
import { SPACE_RULES, SPACE_USES, type SpaceUse } from "#events/freeSpace.ts";
import type { BusHealth } from "#infra/nats/health.ts";
import { projections } from "#projections/index.ts";
import type { Resources } from "./resources.ts";

interface Health {
  ok: boolean;
  detail?: unknown;
}

/** Timeout of a check. It is generous, because a busy process reads answers late. */
const CHECK_TIMEOUT_MS = 2_500;

/** Timeout of all checks together. The answer must come within 5 s, and a busy machine takes up to two seconds to send it. */
const TOTAL_MS = 3_000;

const checkName = (projection: string): string => `projection ${projection}`;
const INDEX = "index passages";
/** The relays' checkpoints, by the names of their checks. */
const RELAYS = { "relay feed": "feed", "relay reactions": "reactions" };
const FOLLOWERS = [...projections.map(({ name }) => checkName(name)), ...Object.keys(RELAYS)];
/** The check of the blobs' disk. */
const DISK = "disk";

export const OTHER_BUS_PROBLEM =
  "This process uses another NATS than the other processes of its database: compare NATS_URL";

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Runs one check. Never throws, and takes at most 2.5 s. */
async function runCheck(check: () => Promise<unknown>): Promise<Health> {
  try {
    const timeout = new Promise<never>((_, reject) =>
      setTimeout(() => reject(new Error(`no answer within ${CHECK_TIMEOUT_MS / 1_000} s`)), CHECK_TIMEOUT_MS).unref(),
    );
    return { ok: true, detail: await Promise.race([check(), timeout]) };
  } catch (error) {
    return { ok: false, detail: messageOf(error) };
  }
}

/** A standby answers queries but refuses every write. While the database is unreachable, requests to this process fail, too. */
async function checkPostgres({ db, reach }: Resources): Promise<string> {
  if (!reach.isReachable()) throw new Error("The database cannot be reached.");
  const [row] = await db.query<{ version: string; read_only: string }>(
    "select current_setting('server_version') as version, current_setting('transaction_read_only') as read_only",
  );
  if (row!.read_only === "on") throw new Error("The database is read-only.");
  return row!.version;
}

/** A database whose disk is full answers queries but takes no appends. */
async function checkAppends({ appends }: Resources): Promise<void> {
  const problem = appends.problem();
  if (problem !== undefined) throw new Error(`The log takes no appends: ${problem}`);
}

interface FollowerRow {
  name: string;
  version: number;
  lag: number;
  parked: number;
}

/** How far the relays are behind the log. Another process may run them, so this is no failure of this one. */
const describeRelays = (found: Map<string, FollowerRow>): Record<string, Health> =>
  Object.fromEntries(
    Object.entries(RELAYS).flatMap(([check, name]): [string, Health][] => {
      const row = found.get(name);
      return row ? [[check, { ok: true, detail: { lag: row.lag } }]] : [];
    }),
  );

async function checkFollowers({ db }: Resources): Promise<Record<string, Health>> {
  const rows = await db.query<FollowerRow>(
    `select c.name, c.version, h.position - c.position as lag, (select count(*) from log.parked p where p.projection = c.name) as parked
     from log.checkpoints c, log.head h`,
  );
  const found = new Map(rows.map((row) => [row.name, row]));
  const models = Object.fromEntries(
    projections.map(({ name, version }) => {
      const row = found.get(name);
      // a newer version only adds to the tables, so this program can read them
      if (!row || row.version < version)
        return [checkName(name), { ok: false, detail: `version ${version} is not built yet` }];
      // lag and parked streams are shown but are no failure: one tenant must not make the service unavailable for others
      return [checkName(name), { ok: true, detail: { lag: row.lag, parked: row.parked } }];
    }),
  );
  return { ...models, ...describeRelays(found) };
}

async function checkBus({ bus, sameBus }: Resources): Promise<BusHealth> {
  const health = await bus.health();
  if (!health.connected) throw new Error("not connected");
  if (!sameBus.isOpen()) throw new Error(OTHER_BUS_PROBLEM);
  const unread = Object.keys(health.streams).filter((name) => !health.streams[name]);
  if (unread.length > 0) throw new Error(`JetStream does not answer for ${unread.join(", ")}`);
  return health;
}

async function checkMeilisearch({ addresses }: Resources): Promise<string> {
  const response = await fetch(joinUrl(addresses.meili_url, "/health"));
  if (!response.ok) throw new Error(`answered ${response.status}`);
  return ((await response.json()) as { status: string }).status;
}

/** Says whether an index of the search server still has its content. */
interface IndexCheck {
  has(index: string): Promise<boolean>;
}

/** Search fails if its index is missing, empty or damaged. Whether the server answers is another check. */
async function checkPassageIndex({ db }: Resources, engine: IndexCheck): Promise<Record<string, Health>> {
  const [row] = await db.query<{ index_id: string | null; lag: number }>(
    `select s.index_id, h.position - coalesce(c.position, 0) as lag from log.head h
     left join log.checkpoints c on c.name = 'passages' left join ops.search_index s on s.name = 'passages'`,
  );
  const { index_id, lag } = row!;
  const lost =
    index_id !== null && !(await engine.has(index_id).catch((error) => !(error instanceof MeilisearchError)));
  return { [INDEX]: { ok: !lost, detail: { lag, index: index_id, ...(lost && { lost }) } } };
}

/** An almost full disk refuses new work, the least urgent first. Everything else works, so this is no failure. */
async function checkDisks({ freeSpace }: Resources): Promise<Record<string, Health>> {
  const disks = await freeSpace.look();
  const refused = SPACE_USES.filter(freeSpace.isRefused);
  return Object.fromEntries(
    Object.entries(disks).map(([store, disk]) => {
      const isFor = (use: SpaceUse) => (SPACE_RULES[use].stores as readonly string[]).includes(store);
      const uses = refused.filter(isFor);
      const name = store === "blobs" ? DISK : `disk ${store}`;
      return [name, { ok: true, detail: { ...disk, ...(uses.length > 0 && { refused: uses }) } }];
    }),
  );
}

/** Runs several checks with one read. They all fail if it does not answer in time. */
async function readSeveral(
  names: string[],
  read: () => Promise<Record<string, Health>>,
  until: number,
): Promise<Record<string, Health>> {
  const left = Math.max(0, until - performance.now());
  const fail = (detail: string) => Object.fromEntries(names.map((name) => [name, { ok: false, detail }]));
  const late = sleep(left, fail(`not read within ${TOTAL_MS / 1_000} s`), { ref: false });
  return Promise.race([read().catch((error: unknown) => fail(messageOf(error))), late]);
}

/** The health of every dependency and follower, by name. */
export async function readHealth(resources: Resources, engine: IndexCheck): Promise<Record<string, Health>> {
  const until = performance.now() + TOTAL_MS;
  const [postgres, log, nats, commands, meilisearch, disks] = await Promise.all([
    runCheck(() => checkPostgres(resources)),
    runCheck(() => checkAppends(resources)),
    runCheck(() => checkBus(resources)),
    runCheck(() => resources.bus.checkDelivery()),
    runCheck(() => checkMeilisearch(resources)),
    readSeveral([DISK], () => checkDisks(resources), performance.now() + CHECK_TIMEOUT_MS),
  ]);
  // not repeated: a silent server would be silent again, and the whole check must end within 5 s
  const [followers, index] = await Promise.all([
    postgres.ok ? readSeveral(FOLLOWERS, () => checkFollowers(resources), until) : {},
    postgres.ok && meilisearch.ok ? readSeveral([INDEX], () => checkPassageIndex(resources, engine), until) : {},
  ]);
  return { postgres, log, nats, commands, meilisearch, ...disks, ...followers, ...index };
}
