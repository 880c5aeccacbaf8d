import { once } from "node:events";
import { Unavailable } from "#events/ports.ts";
import { readSettings, type Settings } from "#infra/config.ts";
import { startEmbeddedServers, type EmbeddedServers } from "#infra/embedded/index.ts";
import { watchLauncher } from "#infra/embedded/signals.ts";
import { loadMasterKey } from "#infra/masterKey.ts";
import { asDb, openPool } from "#infra/postgres/pool.ts";
import { waitForStart, type Obstacle } from "#infra/postgres/waitForStart.ts";
import { retryWhileUnavailable } from "#services/retryWhileUnavailable.ts";
import { maxStopMs, roles, runRoles, type Role } from "../roles/runRoles.ts";
import { describeUnusable, throwExplained } from "./connect.ts";
import { endsInTime } from "./endsInTime.ts";
import { printLine } from "./output.ts";
import { outliveReader } from "./reader.ts";

const WAITING: Record<Obstacle, string> = {
  starting: "PostgreSQL is starting: waiting until it takes connections.",
  away: "PostgreSQL does not answer: waiting for it, 30 s at most.",
};

/** Call it before anything is written: with a wrong key the service must not start. */
async function readMasterKey(settings: Settings, database_url: string, stopping: AbortSignal): Promise<string> {
  const pool = openPool(database_url, { max: 1, name: "svc start" });
  const db = asDb(pool);
  let isTold = false;
  const sayOnce = (error: unknown): never => {
    if (error instanceof Unavailable && !isTold)
      printLine(`${describeUnusable(database_url, error)}: trying again, for a minute at most.`);
    isTold = true;
    throw error;
  };
  try {
    return (await retryWhileUnavailable(() => loadMasterKey(settings, db).catch(sayOnce), stopping)).key;
  } catch (error) {
    return throwExplained(database_url, error);
  } finally {
    await pool.end();
  }
}

const rolesOf = (which: Role | "all"): readonly Role[] => (which === "all" ? roles : [which]);

const notStopped = (limit_ms: number): Error =>
  new Error(
    `Not stopped within ${limit_ms / 1_000} s, because PostgreSQL or another server does not answer. The process ends now: ` +
      "others take over its work 10 s after its last heartbeat. Start PostgreSQL again if it hangs.",
  );

/** Prints that the service runs. For `all`, creates the first organization before that. */
async function announce(
  which: Role | "all",
  running: Awaited<ReturnType<typeof runRoles>>,
  { settings, nats_url }: { settings: Settings; nats_url: string },
): Promise<void> {
  if (which === "all") await (await import("./welcome.ts")).welcome(settings, running, nats_url);
  else printLine(`${which} is running${running.address ? ` on ${running.address}` : ""}.`);
}

/** Starts the roles, and stops them when the signal aborts. */
async function runUntil(
  stopping: AbortSignal,
  which: Role | "all",
  { settings, services }: { settings: Settings; services: EmbeddedServers },
): Promise<void> {
  const stopped = once(stopping, "abort");
  const onWait = (obstacle: Obstacle) => printLine(WAITING[obstacle]);
  const isStarted = waitForStart(services.database_url, onWait).then(() => true);
  if (!(await Promise.race([isStarted, stopped.then(() => false)]))) return;
  const master_key = await readMasterKey(settings, services.database_url, stopping);
  const addresses = { ...services, master_key };
  const running = await runRoles(rolesOf(which), { settings, addresses }, stopping);
  try {
    if (!stopping.aborted) await announce(which, running, { settings, nats_url: addresses.nats_url });
    await stopped;
    printLine("Stopping.");
  } finally {
    await running.stop();
  }
}

/** Runs a role until a signal. `all` runs every role, and creates the first organization. Throws if it does not stop in time. */
export async function start(which: Role | "all"): Promise<void> {
  const settings = readSettings(process.env);
  const services = await startEmbeddedServers(settings, printLine);
  const stopper = new AbortController();
  const stop = (): void => stopper.abort();
  // not `once`: systemd signals the launcher and this process, the launcher passes its signal on, and the second one would end the stop
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, stop);
  watchLauncher(stop);
  outliveReader(() => {
    // a supervisor starts the service again, with another reader
    process.exitCode = 1;
    stop();
  });
  const limit_ms = maxStopMs(rolesOf(which));
  try {
    const running = runUntil(stopper.signal, which, { settings, services });
    if (!(await endsInTime(running, stopper.signal, limit_ms))) throw notStopped(limit_ms);
  } catch (error) {
    // a signal that arrives while it waits for PostgreSQL is not a failure
    if (error !== stopper.signal.reason) throw error;
  } finally {
    await services.stop();
  }
}
