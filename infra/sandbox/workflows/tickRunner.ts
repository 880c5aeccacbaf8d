import { createFairSemaphore } from "#services/sharing/fairSemaphore.ts";
import type { TickCall, TickOutcome } from "#services/workflows/tick.ts";
import { createPermitLender } from "./permitLender.ts";
import type { TickReply } from "./messages.ts";
import { createProcessPool } from "../../processes/processPool.ts";
import { startRunnerProcess } from "./runnerProcess.ts";
import { createSpeculation } from "./speculation.ts";
import { runTick, ThreadLost } from "./tickAttempt.ts";
import { createTickThreadPool } from "./tickThreadPool.ts";

const IDLE_MS = 300_000;
/** Maximum remembered scripts that ended their thread with a speculative step. */
const MAX_UNFIT_SCRIPTS = 1_000;

/** The process that runs ticks; replaced when it has ended. */
function createTickProcess(cpu_ms: number) {
  const pool = createProcessPool({
    max: 1,
    start() {
      const threads = createTickThreadPool();
      return { ...startRunnerProcess("ticks", cpu_ms, threads.remove), threads };
    },
    busyAt: Infinity,
    usesNew: false,
    idle_ms: IDLE_MS,
  });
  let nextId = 0;
  return {
    /** Throws TickLost. */
    async run(call: TickCall): Promise<TickReply> {
      const runner = pool.acquire();
      try {
        return await runTick(runner, nextId++, runner.threads.take(call.run_id), call);
      } finally {
        pool.release();
      }
    },
    forget(run_id: string): void {
      for (const { threads, send } of pool.alive())
        for (const thread of threads.forget(run_id))
          send({ thread, tenant: "" }, { kind: "forget", id: nextId++, text: run_id });
    },
    close: pool.close,
  };
}

/**
 * Runs ticks in the threads of one process. A run stays on its thread while that is free, so that only the new part of its memo is
 * sent. A small tick takes 0.2 ms in total, one with 1,000 memo entries 6 ms (two cores).
 */
export function openTickRunner({ processes, cpu_ms }: { processes: number; cpu_ms: number }) {
  const total = processes + 1;
  const semaphore = createFairSemaphore({ total, perTenant: Math.max(2, Math.ceil(total / 2)) });
  const lending = createPermitLender(semaphore);
  const tickProcess = createTickProcess(cpu_ms);
  const speculation = createSpeculation();
  const unfitScripts = new Set<string>();
  const closing = new AbortController();

  /** Runs a tick. If its thread is lost, runs it again without speculative steps, which may have been the cause. */
  async function runWithRetry(call: TickCall): Promise<TickReply> {
    try {
      return await tickProcess.run(call);
    } catch (error) {
      const loss = error instanceof ThreadLost ? error.loss : undefined;
      if (!call.speculation || loss === "computing" || closing.signal.aborted) throw error;
      if (unfitScripts.size >= MAX_UNFIT_SCRIPTS) unfitScripts.clear();
      if (loss === "speculating") unfitScripts.add(call.sha256);
      return tickProcess.run(withoutSpeculation(call));
    }
  }

  return {
    async tick(request: TickCall): Promise<TickOutcome> {
      const call = unfitScripts.has(request.sha256) ? withoutSpeculation(request) : request;
      const known = speculation.tick(call);
      if (known) return known;
      const { organization_id, run_id, memo, rank } = call;
      const { length } = memo;
      await semaphore.acquire(organization_id, closing.signal, 1, rank);
      closing.signal.throwIfAborted();
      const release = lending.watch(organization_id);
      try {
        return speculation.put(run_id, { memo, length }, await runWithRetry(call));
      } finally {
        release();
      }
    },
    /** The result of a step that ran speculatively. */
    speculatedStep: speculation.step,
    forget(run_id: string): void {
      speculation.forget(run_id);
      tickProcess.forget(run_id);
    },
    async close(): Promise<void> {
      closing.abort(new Error("The workflow runner was closed"));
      await tickProcess.close();
    },
  };
}

function withoutSpeculation({ speculation: _, ...call }: TickCall): TickCall {
  return call;
}
