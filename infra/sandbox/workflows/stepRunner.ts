import { createFairSemaphore } from "#services/sharing/fairSemaphore.ts";
import { StepFailure, type StepCall, type StepResult } from "#services/workflows/tick.ts";
import { createProcessPool } from "../../processes/processPool.ts";
import { startRunnerProcess } from "./runnerProcess.ts";
import { runAttempt } from "./stepAttempt.ts";
import { createStepThreadPool } from "./stepThreadPool.ts";

/** Attempts that one process runs at the same time. Most of them wait for answers. */
const ATTEMPTS_PER_PROCESS = 64;
/** Attempts in a process at which another process is started in advance, because that takes longer than a small step. */
const BUSY_ATTEMPTS = 8;
const IDLE_MS = 60_000;

function startStepProcess(cpu_ms: number) {
  const threads = createStepThreadPool();
  return { ...startRunnerProcess("steps", cpu_ms, threads.remove), threads };
}

/** Runs attempts at steps in separate processes, each in a VM of its own. A small step takes 0.2 ms in total (two cores). */
export function openStepRunner({ processes, cpu_ms }: { processes: number; cpu_ms: number }) {
  const total = processes * ATTEMPTS_PER_PROCESS;
  const semaphore = createFairSemaphore({ total, perTenant: Math.ceil(total / 2) });
  const pool = createProcessPool({
    max: processes,
    start: () => startStepProcess(cpu_ms),
    busyAt: BUSY_ATTEMPTS,
    usesNew: false,
    idle_ms: IDLE_MS,
  });
  const closing = new AbortController();
  let nextId = 0;

  return {
    async step(call: StepCall): Promise<StepResult> {
      const { organization_id: tenant, signal, timeout_ms, rank } = call;
      const stopped = AbortSignal.any([signal, closing.signal]);
      await semaphore.acquire(tenant, stopped, 1, rank);
      if (stopped.aborted) semaphore.release(tenant);
      stopped.throwIfAborted();
      // it takes only whole numbers, and an error here would keep the permit for ever
      const timeout = AbortSignal.timeout(Math.ceil(timeout_ms));
      const runner = pool.acquire();
      const address = { thread: runner.threads.take(tenant), tenant };
      const onFinished = (): void => {
        if (runner.threads.release(address.thread)) runner.endThread(address.thread);
        semaphore.release(tenant);
        pool.release();
      };
      const attempt = { id: nextId++, runner, address, call, signal: AbortSignal.any([stopped, timeout]), onFinished };
      return runAttempt(attempt).catch((error: unknown) => {
        if (error !== timeout.reason) throw error;
        throw new StepFailure("step_timeout", `The step took longer than ${timeout_ms / 1_000} seconds.`);
      });
    },
    async close(): Promise<void> {
      closing.abort(new Error("The workflow runner was closed"));
      await pool.close();
    },
  };
}
