import { ScriptFailed, type ScriptHost, type ScriptRunner } from "#services/scripting/runner.ts";
import { startChild, type Child, type Waiting } from "./child.ts";

interface Options {
  /** Processes; each runs several scripts at once. */
  processes: number;
}

/** Scripts that one process runs at once; more wait. */
const AT_ONCE = 8;
const IDLE_MS = 60_000;
/** How long a call may take, what it waits for included. */
const CALL_MS = 30_000;
const INSPECT_MS = 5_000;

const NO_HOST: ScriptHost = {
  fetch: () => Promise.reject(new Error("A script fetches nothing while it is saved.")),
  secret: () => Promise.reject(new Error("A script has no secrets while it is saved.")),
};

/**
 * Runs scripts in processes that it starts when the first one comes and ends when none has come for a minute. A process
 * that is lost fails the scripts that it ran; the next one gets another.
 */
export function openScripts({ processes }: Options): ScriptRunner {
  const children = new Set<Child>();
  const queue: (() => void)[] = [];
  let running = 0;
  let closed = false;
  let idle: NodeJS.Timeout | undefined;

  function start(): Child {
    const child = startChild();
    children.add(child);
    void child.gone.then(() => children.delete(child));
    return child;
  }
  /** The one with the least to do; a further one where all have something. */
  function take(): Child {
    const [least] = [...children].filter((child) => child.isAlive()).toSorted((a, b) => a.running() - b.running());
    return least && (least.running() === 0 || children.size >= processes) ? least : start();
  }
  async function enter(): Promise<void> {
    if (running >= processes * AT_ONCE) await new Promise<void>((resolve) => queue.push(resolve));
    if (closed) throw new Error("The script runner was closed");
    running += 1;
    clearTimeout(idle);
  }
  function leave(): void {
    running -= 1;
    queue.shift()?.();
    if (running > 0) return;
    idle = setTimeout(() => {
      for (const child of children) child.end();
    }, IDLE_MS).unref();
  }

  async function order(
    what: Parameters<Child["order"]>[0],
    ms: number,
    { host, signal }: Pick<Waiting, "host" | "signal">,
  ): Promise<string> {
    await enter();
    const late = AbortSignal.timeout(ms);
    try {
      return await new Promise<string>((resolve, reject) =>
        take().order(what, { host, signal: AbortSignal.any([signal, late]), resolve, reject }),
      );
    } catch (error) {
      if (late.aborted && !signal.aborted) throw new ScriptFailed(`The script took longer than ${ms / 1_000} seconds.`);
      throw error;
    } finally {
      leave();
    }
  }

  return {
    run: ({ js, args, meta, host, signal }) =>
      order({ kind: "run", js, input: JSON.stringify({ args, meta }) }, CALL_MS, { host, signal }),
    inspect: (js) =>
      order({ kind: "inspect", js }, INSPECT_MS, { host: NO_HOST, signal: new AbortController().signal }),
    async close() {
      closed = true;
      clearTimeout(idle);
      for (const wake of queue.splice(0)) wake();
      for (const child of children) child.end();
      await Promise.all([...children].map((child) => child.gone));
    },
  };
}
