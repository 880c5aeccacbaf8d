import { setTimeout as sleep } from "node:timers/promises";
import { asDb } from "#infra/postgres/pool.ts";
import { activeFollowers, type Follower } from "#test/scale/followers.ts";
import type { Journal } from "../journal.ts";
import type { SupervisedProcess } from "../supervise.ts";
import type { Topology } from "../topology.ts";
import type { Fault, PlannedFault, Point } from "./plan.ts";
import { ask } from "./ask.ts";
import { crashPostgres } from "./crashPostgres.ts";
import { findScriptProcesses, kill } from "./processes.ts";
import { injectSurrounding } from "./surround.ts";
import { CLUSTER_FAMILIES, FAMILIES } from "./surroundings.ts";

/** A process that does not reach its failpoint is killed after this time. */
const POINT_MS = 15_000;

const BACKENDS = `select pid from pg_stat_activity
  where backend_type = 'client backend' and pid <> pg_backend_pid() and application_name ~ '^(http|services|projections|all)-' order by pid`;

const backendPid = (url: string, nth: number): Promise<number | undefined> =>
  ask(url, async (client) => {
    const { rows } = await client.query<{ pid: number }>(BACKENDS);
    return rows[nth % Math.max(1, rows.length)]?.pid;
  });

/** Pid of the process that currently holds a singleton's lock. */
const leaderPid = (url: string, follower: Follower): Promise<number | undefined> =>
  ask(url, async (client) => (await activeFollowers(asDb(client as never)))[follower][0]);

/** Failpoints that only a leader reaches. */
const LEADERS: Partial<Record<Point, Follower>> = {
  "after-reaction-published": "relay",
  "after-feed-published": "feed",
};

/** The restarted process lost its leadership. This gives it back once it runs. */
async function giveLead(
  role: SupervisedProcess,
  before: number,
  { follower, url }: { follower: Follower; url: string },
): Promise<void> {
  for (const until = Date.now() + POINT_MS; Date.now() < until; await sleep(100))
    if (role.deaths() >= before && role.pid() !== undefined) break;
  await role.ready(POINT_MS);
  const leader = await leaderPid(url, follower);
  if (leader !== role.pid()) kill(leader);
}

async function failAt(
  role: SupervisedProcess,
  { point, passes }: { point: Point; passes: number },
  url: string,
): Promise<void> {
  role.failNext(`${point}:${passes}`);
  role.signal("SIGKILL");
  const before = role.deaths() + 1;
  const follower = LEADERS[point];
  if (follower) await giveLead(role, before, { follower, url }).catch(() => {});
  for (const until = Date.now() + POINT_MS; Date.now() < until; await sleep(100)) if (role.deaths() > before) return;
  role.signal("SIGKILL");
}

/** Deletes the passage index, as if the search server had started with an empty disk. */
const loseIndex = ({ meili_url, meili_master_key, database_url }: Topology["addresses"]): Promise<boolean> =>
  ask(database_url, async (client) => {
    const { rows } = await client.query<{ index_id: string }>("select index_id from ops.search_index");
    if (!rows[0]) return false;
    const headers = { authorization: `Bearer ${meili_master_key}` };
    return (await fetch(`${meili_url}/indexes/${rows[0].index_id}`, { method: "DELETE", headers })).ok;
  });

/** Injects one fault; undefined when its target does not run. `ended` resolves when the fault is over. */
async function injectFault(
  topology: Topology,
  fault: Fault,
  journal: Journal,
): Promise<{ ended: Promise<void> } | undefined> {
  const { roles, processOf, pidOf, addresses } = topology;
  const after = (isInjected: boolean) => (isInjected ? { ended: Promise.resolve() } : undefined);
  switch (fault.what) {
    case "backend":
      return after(kill(await backendPid(addresses.database_url, fault.nth).catch(() => undefined)));
    case "feed":
      return after(kill(await leaderPid(addresses.database_url, "feed").catch(() => undefined)));
    case "index":
      return after(await loseIndex(addresses).catch(() => false));
    case "runner": {
      const pids = await findScriptProcesses(
        roles.flatMap(({ role, pid }) => (role === "services" || role === "all" ? (pid() ?? []) : [])),
      );
      return after(kill(pids[fault.nth % Math.max(1, pids.length)]));
    }
    case "point":
      return { ended: failAt(processOf(fault.role, fault.n), fault, addresses.database_url) };
    case "version": {
      const those = roles.filter(({ role }) => role === fault.role);
      return { ended: topology.surroundings.versions!.rollOut(those, fault.to) };
    }
    case "crash":
      return crashPostgres(topology, fault, journal);
    case "kill":
      if ("n" in fault) return after(processOf(fault.role, fault.n).signal("SIGKILL"));
      return after(kill(await pidOf(fault.role).catch(() => undefined)));
    default:
      return injectSurrounding(topology, fault);
  }
}

/** The fault's target, for the journal and the table. */
function targetOf(fault: Fault): string {
  const { what: _, ...rest } = fault as Record<string, unknown> & Fault;
  const { role, n, point, server, node, way, store, hours, to } = rest as Record<string, string | number | undefined>;
  const named = n === undefined ? role : `${role} ${n}`;
  const skew = hours === undefined ? undefined : `${Number(hours) > 0 ? "+" : ""}${hours} h`;
  const cut = node === undefined ? undefined : `nats-${Number(node) + 1}`;
  return [named, point, server, cut, way, store, skew, to].filter((part) => part !== undefined).join(" ");
}

/** Whether the fault is one of the environment. These last for some time, and only one at a time is injected. */
const isSurrounding = ({ what }: Fault): boolean => [...FAMILIES, ...CLUSTER_FAMILIES, "version"].includes(what);

/** Maximum time for a role to start after all were killed. It takes some seconds, on a busy machine many. */
const STARTED_MS = 60_000;
/** How long the processes then serve before the next fault may follow. */
const SERVING_MS = 4_000;

/** Waits until all processes have served for a while. Environment faults wait for that after a fault that ended every process. */
async function untilServed({ roles }: Topology): Promise<void> {
  await Promise.allSettled(roles.map((role) => role.ready(STARTED_MS)));
  await sleep(SERVING_MS);
}

const endsAll = (fault: Fault): boolean =>
  (fault.what === "power" || fault.what === "readonly") && (fault.store === "blobs" || fault.store === "everything");

/** Maximum time that a fault waits for its target. */
const TARGET_MS = 120_000;

/** Injects a fault once its target runs; undefined if that takes too long. */
async function injectOnceThere(topology: Topology, fault: Fault, journal: Journal) {
  for (const until = Date.now() + TARGET_MS; Date.now() < until; await sleep(250)) {
    const injected = await injectFault(topology, fault, journal);
    if (injected) return injected;
  }
  return undefined;
}

/**
 * Injects the planned faults. A fault whose target is restarting waits for it; an environment fault waits for the end of the
 * previous one. Resolves when every process may run again. Throws if a target never runs, unless `mayMiss`: after a planted bug has
 * broken every definition, no script runs again.
 */
export async function injectFaults(
  topology: Topology,
  plan: PlannedFault[],
  journal: Journal,
  { print, mayMiss }: { print: (line: string) => void; mayMiss: boolean },
): Promise<void> {
  const began = journal.now();
  const all: Promise<void>[] = [];
  let around: Promise<void> = Promise.resolve();
  for (const { pause, fault } of plan) {
    await sleep(pause);
    if (isSurrounding(fault)) await around;
    const injected = await injectOnceThere(topology, fault, journal);
    const [at, target] = [journal.now(), targetOf(fault)];
    if (!injected) {
      const missed = `not injected, because its target did not run: ${fault.what} ${target}`;
      if (!mayMiss) throw new Error(missed);
      print(`${((at - began) / 1_000).toFixed(1)} s: ${missed}`);
      continue;
    }
    const lasts = "ms" in fault ? ` for ${Math.round(fault.ms / 1_000)} s` : "";
    print(`${((at - began) / 1_000).toFixed(1)} s: ${fault.what} ${target}${lasts}`);
    const ended = injected.ended.then(() =>
      journal.note({ kind: "fault", what: fault.what, target, at, until: journal.now() }),
    );
    // awaited at the end, where its failure is thrown
    ended.catch(() => {});
    all.push(ended);
    if (isSurrounding(fault)) around = endsAll(fault) ? ended.then(() => untilServed(topology)) : ended;
  }
  await Promise.all(all);
}
