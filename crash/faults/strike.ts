import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { asDb } from "#infra/postgres/pool.ts";
import { activeFollowers, type Follower } from "#test/scale/followers.ts";
import type { Journal } from "../journal.ts";
import type { Kept } from "../process.ts";
import type { Topology } from "../topology.ts";
import type { Blow, Planned, Point } from "./plan.ts";
import { scriptRunners } from "./runners.ts";

/** A process that was told to fail at a point and never came by is killed after this. */
const POINT_MS = 15_000;

const BACKENDS = `select pid from pg_stat_activity
  where backend_type = 'client backend' and pid <> pg_backend_pid() and application_name ~ '^(http|services|projections)-' order by pid`;

/** Asks the database over a connection of its own. */
async function ask<T>(url: string, question: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
  client.on("error", () => {});
  await client.connect();
  try {
    return await question(client);
  } finally {
    await client.end().catch(() => {});
  }
}

const backendPid = (url: string, nth: number): Promise<number | undefined> =>
  ask(url, async (client) => {
    const { rows } = await client.query<{ pid: number }>(BACKENDS);
    return rows[nth % Math.max(1, rows.length)]?.pid;
  });

/** Pid of the process that does at this moment what one does at a time. */
const leaderPid = (url: string, follower: Follower): Promise<number | undefined> =>
  ask(url, async (client) => (await activeFollowers(asDb(client as never)))[follower][0]);

/** Points that only the one comes by that leads. */
const LEADERS: Partial<Record<Point, Follower>> = {
  "after-reaction-published": "relay",
  "after-feed-published": "feed",
};

function kill(pid: number | undefined): boolean {
  try {
    return pid !== undefined && process.kill(pid, "SIGKILL");
  } catch {
    return false;
  }
}

/** The process that is to fail lost its lead when it was started anew: it gets that back once it runs. */
async function giveLead(
  role: Kept,
  before: number,
  { follower, url }: { follower: Follower; url: string },
): Promise<void> {
  for (const until = Date.now() + POINT_MS; Date.now() < until; await sleep(100))
    if (role.deaths() >= before && role.pid() !== undefined) break;
  await role.ready(POINT_MS);
  const leader = await leaderPid(url, follower);
  if (leader !== role.pid()) kill(leader);
}

async function failAt(role: Kept, { point, passes }: { point: Point; passes: number }, url: string): Promise<void> {
  role.failNext(`${point}:${passes}`);
  role.signal("SIGKILL");
  const before = role.deaths() + 1;
  const follower = LEADERS[point];
  if (follower) await giveLead(role, before, { follower, url }).catch(() => {});
  for (const until = Date.now() + POINT_MS; Date.now() < until; await sleep(100)) if (role.deaths() > before) return;
  role.signal("SIGKILL");
}

async function stopFor(role: Kept, ms: number): Promise<void> {
  const before = role.deaths();
  role.signal("SIGSTOP");
  await sleep(ms);
  if (role.deaths() === before) role.signal("SIGCONT");
}

/** The passage index is lost, as if the search server had come up on an empty disk. */
const loseIndex = ({ meili_url, meili_master_key, database_url }: Topology["addresses"]): Promise<boolean> =>
  ask(database_url, async (client) => {
    const { rows } = await client.query<{ index_id: string }>("select index_id from ops.search_index");
    if (!rows[0]) return false;
    const headers = { authorization: `Bearer ${meili_master_key}` };
    return (await fetch(`${meili_url}/indexes/${rows[0].index_id}`, { method: "DELETE", headers })).ok;
  });

/** Carries out one blow; false when its target was not there. What takes time goes on beside, in `later`. */
async function strike({ roles, pidOf, addresses }: Topology, blow: Blow, later: Promise<void>[]): Promise<boolean> {
  const named = (role: string, n: number): Kept => roles.find(({ name }) => name === `${role}-${n}`)!;
  switch (blow.what) {
    case "backend":
      return kill(await backendPid(addresses.database_url, blow.nth).catch(() => undefined));
    case "feed":
      return kill(await leaderPid(addresses.database_url, "feed").catch(() => undefined));
    case "index":
      return loseIndex(addresses).catch(() => false);
    case "runner": {
      const pids = await scriptRunners(roles.flatMap(({ role, pid }) => (role === "services" ? (pid() ?? []) : [])));
      return kill(pids[blow.nth % Math.max(1, pids.length)]);
    }
    case "stop":
      later.push(stopFor(named(blow.role, blow.n), blow.ms));
      return true;
    case "point":
      later.push(failAt(named(blow.role, blow.n), blow, addresses.database_url));
      return true;
    case "kill":
      if ("n" in blow) return named(blow.role, blow.n).signal("SIGKILL");
      return kill(await pidOf(blow.role).catch(() => undefined));
  }
}

const targetOf = (blow: Blow): string =>
  [
    ...("role" in blow ? [blow.role] : []),
    ...("n" in blow ? [blow.n] : []),
    ...("point" in blow ? [blow.point] : []),
  ].join(" ");

/** Carries out the plan; a blow whose target is just restarting comes when it is back. Resolves when every process may live again. */
export async function strikeAll(topology: Topology, plan: Planned[], journal: Journal): Promise<void> {
  const later: Promise<void>[] = [];
  for (const { pause, blow } of plan) {
    await sleep(pause);
    while (!(await strike(topology, blow, later))) await sleep(250);
    journal.note({ kind: "fault", what: blow.what, target: targetOf(blow), at: journal.now() });
  }
  await Promise.all(later);
}
