import { once } from "node:events";
import { readSettings, type Settings } from "#infra/config.ts";
import { startEmbeddedServers } from "#infra/embedded/index.ts";
import { loadMasterKey } from "#infra/masterKey.ts";
import { asDb, openPool } from "#infra/postgres/pool.ts";
import { waitForStart, type Obstacle } from "#infra/postgres/waitForStart.ts";
import { retryWhileUnavailable } from "#services/retryWhileUnavailable.ts";
import { roles, runRoles, type Role } from "../roles/runRoles.ts";
import { printLine } from "./output.ts";

const WAITING: Record<Obstacle, string> = {
  starting: "PostgreSQL is starting: waiting until it takes connections.",
  away: "PostgreSQL does not answer: waiting for it, 30 s at most.",
};

/** Call it before anything is written: with a wrong key the service must not start. */
async function readMasterKey(settings: Settings, database_url: string, stopping: AbortSignal): Promise<string> {
  const pool = openPool(database_url, { max: 1, name: "svc start" });
  const db = asDb(pool);
  try {
    return (await retryWhileUnavailable(() => loadMasterKey(settings, db), stopping)).key;
  } finally {
    await pool.end();
  }
}

/** Prints that the service runs. For `all`, creates the first organization before that. */
async function announce(
  which: Role | "all",
  running: Awaited<ReturnType<typeof runRoles>>,
  { settings, nats_url }: { settings: Settings; nats_url: string },
): Promise<void> {
  if (which === "all") await (await import("./welcome.ts")).welcome(settings, running, nats_url);
  else printLine(`${which} is running${running.address ? ` on ${running.address}` : ""}.`);
}

/** Runs a role until a signal. `all` runs every role, and creates the first organization. */
export async function start(which: Role | "all"): Promise<void> {
  const settings = readSettings(process.env);
  const services = await startEmbeddedServers(settings, printLine);
  const stopper = new AbortController();
  const stopping = once(stopper.signal, "abort");
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => stopper.abort());
  const onWait = (obstacle: Obstacle) => printLine(WAITING[obstacle]);
  try {
    const isStarted = waitForStart(services.database_url, onWait).then(() => true);
    if (!(await Promise.race([isStarted, stopping.then(() => false)]))) return;
    const master_key = await readMasterKey(settings, services.database_url, stopper.signal);
    const addresses = { ...services, master_key };
    const running = await runRoles(which === "all" ? roles : [which], { settings, addresses }, stopper.signal);
    try {
      if (!stopper.signal.aborted) await announce(which, running, { settings, nats_url: addresses.nats_url });
      await stopping;
      printLine("Stopping.");
    } finally {
      await running.stop();
    }
  } catch (error) {
    // a signal that arrives while it waits for PostgreSQL is not a failure
    if (error !== stopper.signal.reason) throw error;
  } finally {
    await services.stop();
  }
}
