import { ScriptFailed, type Inspected, type ScriptHost, type ScriptRunner } from "#services/scripting/runner.ts";
import type { WorkflowRunner } from "#services/workflows/tick.ts";
import { startChild, type Child, type Waiting } from "./child.ts";
import { createPlaces } from "./places.ts";
import { openWorkflows } from "./workflows/openWorkflows.ts";

interface Options {
  /** Processes; each runs several scripts at once. */
  processes: number;
  /** What a script may compute, waiting left out, in milliseconds of processor time. */
  cpu_ms?: number;
}

/** Scripts that one process runs at once; more wait. */
const AT_ONCE = 8;
const CPU_MS = 2_000;
/** Largest JSON that a script is given, in UTF-16 units; vars may be as large as a request. */
const MOST_GIVEN = 1024 * 1024;
const IDLE_MS = 60_000;
/** How long a call may take, what it waits for included. */
const CALL_MS = 30_000;
/** Processor time bounds it; by the clock it may take long on a full machine, where such processes give way. */
const INSPECT_MS = 60_000;

const NO_HOST: ScriptHost = {
  fetch: () => Promise.reject(new Error("A script fetches nothing while it is saved.")),
  secret: () => Promise.reject(new Error("A script has no secrets while it is saved.")),
};

/**
 * Runs scripts in processes that it starts when the first one comes and ends when none has come for a minute. A process
 * that is lost fails the scripts that it ran; the next one gets another.
 */
export function openScripts({ processes, cpu_ms = CPU_MS }: Options): ScriptRunner & WorkflowRunner {
  const workflows = openWorkflows({ processes, cpu_ms });
  const children = new Set<Child>();
  const places = createPlaces({ places: processes * AT_ONCE, each: Math.ceil((processes * AT_ONCE) / 2) });
  const closing = new AbortController();
  let running = 0;
  let idle: NodeJS.Timeout | undefined;

  function start(): Child {
    const child = startChild(cpu_ms);
    children.add(child);
    void child.gone.then(() => children.delete(child));
    return child;
  }
  /** The one with the least to do; a further one where all have something. */
  function take(): Child {
    const [least] = [...children].filter((child) => child.isAlive()).toSorted((a, b) => a.running() - b.running());
    return least && (least.running() === 0 || children.size >= processes) ? least : start();
  }
  function rest(): void {
    idle = setTimeout(() => {
      for (const child of children) child.end();
    }, IDLE_MS).unref();
  }

  async function inPlace<T>(tenant: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await places.enter(tenant, AbortSignal.any([signal, closing.signal]));
    running += 1;
    clearTimeout(idle);
    try {
      closing.signal.throwIfAborted();
      return await work();
    } finally {
      running -= 1;
      places.leave(tenant);
      if (running === 0 && !closing.signal.aborted) rest();
    }
  }

  async function order(
    what: Parameters<Child["order"]>[0],
    ms: number,
    { host, signal }: Pick<Waiting, "host" | "signal">,
  ): Promise<string> {
    const late = AbortSignal.timeout(ms);
    try {
      return await new Promise<string>((resolve, reject) =>
        take().order(what, { host, signal: AbortSignal.any([signal, late]), resolve, reject }),
      );
    } catch (error) {
      if (late.aborted && !signal.aborted) throw new ScriptFailed(`The script took longer than ${ms / 1_000} seconds.`);
      throw error;
    }
  }

  return {
    tick: workflows.tick,
    step: workflows.step,
    forget: workflows.forget,
    async run({ organization_id, js, args, meta, host, signal }) {
      const input = JSON.stringify({ args, meta });
      if (input.length > MOST_GIVEN) throw new ScriptFailed("Arguments and meta together are larger than 1 MiB.");
      return inPlace(organization_id, signal, () => order({ kind: "run", js, input }, CALL_MS, { host, signal }));
    },
    async inspect(organization_id, source, type = "tool") {
      const { signal } = new AbortController();
      const json = await inPlace(organization_id, signal, () =>
        order({ kind: "inspect", type, source }, INSPECT_MS, { host: NO_HOST, signal }),
      );
      return JSON.parse(json) as Inspected;
    },
    async close() {
      closing.abort(new Error("The script runner was closed"));
      clearTimeout(idle);
      for (const child of children) child.end();
      await Promise.all([workflows.close(), ...[...children].map((child) => child.gone)]);
    },
  };
}
