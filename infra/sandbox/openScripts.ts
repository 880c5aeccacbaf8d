import { jsonWithin } from "#events/largeJson.ts";
import { Unavailable } from "#events/ports.ts";
import { ScriptError, type ScriptInspection, type ScriptHost, type ScriptRunner } from "#services/scripting/runner.ts";
import { createFairSemaphore } from "#services/sharing/fairSemaphore.ts";
import type { WorkflowRunner } from "#services/workflows/tick.ts";
import { createProcessPool } from "../processes/processPool.ts";
import { startScriptProcess, type PendingScript, type ScriptProcess } from "./scriptProcess.ts";
import { openWorkflows } from "./workflows/openWorkflows.ts";

interface ScriptsOptions {
  /** Number of processes; each runs several scripts at the same time. */
  processes: number;
  /** Maximum CPU milliseconds of a script. */
  cpu_ms?: number;
}

type Work = Parameters<ScriptProcess["run"]>[0];

const SCRIPTS_PER_PROCESS = 8;
const CPU_MS = 2_000;
/** Maximum JSON passed to a script, in UTF-16 units. `vars` may be as large as a request. */
const MAX_INPUT = 1024 * 1024;
const IDLE_MS = 60_000;
/** Maximum wall-clock milliseconds of a call. */
const CALL_MS = 30_000;
/**
 * Wall-clock limit of an inspection, whose real limit is CPU time: on a busy machine it may take long, because these processes have
 * a low priority.
 */
const INSPECT_MS = 60_000;
/** Waiting inspections of an organization: an editor sends one at each pause of its author. */
const MAX_WAITING_INSPECTIONS = 64;

const NO_HOST: ScriptHost = {
  fetch: () => Promise.reject(new Error("A script fetches nothing while it is saved.")),
  secret: () => Promise.reject(new Error("A script has no secrets while it is saved.")),
};

/** Runs scripts in separate processes. If one is lost, its scripts fail, and the next script starts another process. */
export function openScripts({ processes, cpu_ms = CPU_MS }: ScriptsOptions): ScriptRunner & WorkflowRunner {
  const workflows = openWorkflows({ processes, cpu_ms });
  const start = () => startScriptProcess(cpu_ms);
  const pool = createProcessPool({ max: processes, start, busyAt: 1, usesNew: true, idle_ms: IDLE_MS });
  const total = processes * SCRIPTS_PER_PROCESS;
  const semaphore = createFairSemaphore({ total, perTenant: Math.ceil(total / 2) });
  const closing = new AbortController();

  async function runWork(work: Work, ms: number, { host, signal }: Pick<PendingScript, "host" | "signal">) {
    closing.signal.throwIfAborted();
    const timeout = AbortSignal.timeout(ms);
    const scriptProcess = pool.acquire();
    try {
      return await new Promise<string>((resolve, reject) =>
        scriptProcess.run(work, { host, signal: AbortSignal.any([signal, timeout]), resolve, reject }),
      );
    } catch (error) {
      if (timeout.aborted && !signal.aborted)
        throw new ScriptError(`The script took longer than ${ms / 1_000} seconds.`);
      throw error;
    } finally {
      pool.release();
    }
  }
  const inTurn = (tenant: string, signal: AbortSignal, work: () => Promise<string>): Promise<string> =>
    semaphore.run(tenant, work, AbortSignal.any([signal, closing.signal]));

  return {
    tick: workflows.tick,
    step: workflows.step,
    forget: workflows.forget,
    async run({ organization_id, js, args, meta, host, signal }) {
      const input = jsonWithin({ args, meta }, MAX_INPUT);
      if (input === undefined) throw new ScriptError("Arguments and meta together are larger than 1 MiB.");
      return inTurn(organization_id, signal, () => runWork({ kind: "run", js, input }, CALL_MS, { host, signal }));
    },
    async inspect(organization_id, source, type = "tool") {
      if (semaphore.countWaiting(organization_id) >= MAX_WAITING_INSPECTIONS)
        throw new Unavailable("too many scripts of the organization wait to be checked", { retry_after_ms: 2_000 });
      const { signal } = new AbortController();
      const work = () => runWork({ kind: "inspect", type, source }, INSPECT_MS, { host: NO_HOST, signal });
      return JSON.parse(await inTurn(organization_id, signal, work)) as ScriptInspection;
    },
    async close() {
      closing.abort(new Error("The script runner was closed"));
      await Promise.all([workflows.close(), pool.close()]);
    },
  };
}
