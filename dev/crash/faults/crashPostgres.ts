import { setTimeout as sleep } from "node:timers/promises";
import type { Journal, Operation } from "../journal.ts";
import type { Topology } from "../topology.ts";
import { ask } from "./ask.ts";
import type { Fault } from "./plan.ts";
import { kill } from "./processes.ts";
import { rewindReadModel } from "./rewind.ts";

/** Maximum wait for the acknowledgement, and for PostgreSQL to be back. */
const WAIT_MS = 15_000;
/** How long the read models stay as the crash left them after PostgreSQL is back. */
const HOLD_MS = 3_000;

type Crash = Extract<Fault, { what: "crash" }>;

const isRunning = ({ database_url }: Topology["addresses"]): Promise<boolean> =>
  ask(database_url, (client) => client.query("select 1")).then(
    () => true,
    () => false,
  );

/** Continues the processes that `rewindReadModel` stopped: `http` at once, `projections` some time after PostgreSQL is back. */
async function continueLater({ roles, addresses }: Topology): Promise<void> {
  const signalAll = (wanted: string) => {
    for (const { role, signal: send } of roles) if (role === wanted) send("SIGCONT");
  };
  signalAll("http");
  for (const until = Date.now() + WAIT_MS; Date.now() < until && !(await isRunning(addresses)); await sleep(50));
  await sleep(HOLD_MS);
  signalAll("projections");
}

/** Kills PostgreSQL at the moment when a client gets such an acknowledgement. */
export async function crashPostgres(
  topology: Topology,
  { after, loses }: Crash,
  journal: Journal,
): Promise<{ ended: Promise<void> } | undefined> {
  const { roles, pidOf, addresses } = topology;
  const pid = await pidOf("postgres").catch(() => undefined);
  if (pid === undefined || !(await isRunning(addresses))) return undefined;
  const acknowledged = (fits: (operation: Operation) => boolean) =>
    Promise.race([
      journal.nextOperation((one) => one.what === after && one.outcome === "done" && fits(one)),
      sleep(WAIT_MS, undefined),
    ]);
  if (!loses) {
    await acknowledged(() => true);
    return kill(pid) ? { ended: Promise.resolve() } : undefined;
  }
  const stop = (wanted: string) => {
    for (const { role, signal: send } of roles) if (role === wanted) send("SIGSTOP");
  };
  try {
    await ask(addresses.database_url, (client) => rewindReadModel(client, { model: loses, acknowledged, stop }));
    return kill(pid) ? { ended: continueLater(topology) } : undefined;
  } catch (error) {
    await continueLater(topology);
    throw error;
  }
}
