import { projections } from "#projections/index.ts";
import { MARKER } from "#infra/meilisearch/document.ts";
import type { Opened } from "./open.ts";

interface Health {
  ok: boolean;
  detail?: unknown;
}

/** A follower this far behind, in events, means that answers are old. */
const LAG = 10_000;
const CHECK_MS = 2_000;

/** One check, never longer than 2 s and never thrown. */
async function check(look: () => Promise<unknown>): Promise<Health> {
  try {
    const late = new Promise<never>((_, reject) =>
      setTimeout(() => reject(new Error("no answer within 2 s")), CHECK_MS).unref(),
    );
    return { ok: true, detail: await Promise.race([look(), late]) };
  } catch (error) {
    return { ok: false, detail: error instanceof Error ? error.message : String(error) };
  }
}

async function followers({ db }: Opened): Promise<Record<string, Health>> {
  const rows = await db.query<{ name: string; version: number; lag: number; parked: number }>(
    `select c.name, c.version, h.position - c.position as lag, (select count(*) from log.parked p where p.projection = c.name) as parked
     from log.checkpoints c, log.head h`,
  );
  const found = new Map(rows.map((row) => [row.name, row]));
  return Object.fromEntries(
    projections.map(({ name, version }) => {
      const row = found.get(name);
      if (row?.version !== version)
        return [`projection ${name}`, { ok: false, detail: `version ${version} is not built yet` }];
      // A parked stream is shown and does not fail: one tenant's event must not take the service from all others.
      return [`projection ${name}`, { ok: row.lag < LAG, detail: { lag: row.lag, parked: row.parked } }];
    }),
  );
}

/** Whether the index is gone or was emptied, which its follower mends: until then no search can run. */
async function isLost({ meili_url, meili_master_key }: Opened["addresses"], index: string): Promise<boolean> {
  const { status } = await fetch(new URL(`/indexes/${index}/documents/${MARKER}`, meili_url), {
    headers: meili_master_key ? { authorization: `Bearer ${meili_master_key}` } : {},
    signal: AbortSignal.timeout(CHECK_MS),
  });
  return status === 404;
}

/** Search finds what the passage index has followed. */
async function passageIndex({ db, addresses }: Opened): Promise<Record<string, Health>> {
  const [row] = await db.query<{ index_id: string | null; lag: number }>(
    `select s.index_id, h.position - coalesce(c.position, 0) as lag from log.head h
     left join log.checkpoints c on c.name = 'passages' left join ops.search_index s on s.name = 'passages'`,
  );
  const { index_id, lag } = row!;
  const lost = index_id !== null && (await isLost(addresses, index_id).catch(() => false));
  return { "index passages": { ok: lag < LAG && !lost, detail: { lag, index: index_id, ...(lost && { lost }) } } };
}

/** Every dependency and every follower by name, with what there is to say of it. */
export async function readHealth(opened: Opened): Promise<Record<string, Health>> {
  const { db, bus, addresses } = opened;
  const [postgres, nats, meilisearch] = await Promise.all([
    check(
      async () =>
        (await db.query<{ version: string }>("select current_setting('server_version') as version"))[0]!.version,
    ),
    check(async () => {
      const health = await bus.health();
      if (!health.connected) throw new Error("not connected");
      const unread = Object.keys(health.streams).filter((name) => !health.streams[name]);
      if (unread.length > 0) throw new Error(`JetStream does not answer for ${unread.join(", ")}`);
      return health;
    }),
    check(async () => {
      const response = await fetch(new URL("/health", addresses.meili_url));
      if (!response.ok) throw new Error(`answered ${response.status}`);
      return ((await response.json()) as { status: string }).status;
    }),
  ]);
  const followed = postgres.ok ? await Promise.all([followers(opened), passageIndex(opened)]).catch(() => []) : [];
  return Object.assign({ postgres, nats, meilisearch }, ...followed);
}
