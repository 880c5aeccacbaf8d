import type { TypeChecker } from "#http/base/typeChecker.ts";
import { createFairSemaphore } from "#services/sharing/fairSemaphore.ts";
import { createProcessPool } from "../../processes/processPool.ts";
import { startTypesProcess } from "./typesProcess.ts";

const PROCESSES = 2;
/** An organization uses one process at a time, so that types which take long to check delay nobody else. */
const PER_ORGANIZATION = 1;
const IDLE_MS = 60_000;
/** Waiting checks of an organization: an editor sends one at each pause of its author. */
const MAX_WAITING = 8;
const MAX_WAIT_MS = 30_000;
const BUSY = "Many sources are being checked at the moment. The types are checked after the next change.";

/** Checks types of scripts in separate processes, which start on demand. */
export function openTypeChecker(): TypeChecker & { close(): Promise<void> } {
  const start = startTypesProcess;
  const pool = createProcessPool({ max: PROCESSES, start, busyAt: 1, usesNew: true, idle_ms: IDLE_MS });
  const semaphore = createFairSemaphore({ total: PROCESSES, perTenant: PER_ORGANIZATION });
  const closing = new AbortController();
  return {
    async checkTypes(organization_id, script) {
      const busy = { errors: [], unchecked: BUSY };
      if (semaphore.countWaiting(organization_id) >= MAX_WAITING) return busy;
      const patience = AbortSignal.any([AbortSignal.timeout(MAX_WAIT_MS), closing.signal]);
      try {
        await semaphore.acquire(organization_id, patience);
      } catch {
        return busy;
      }
      try {
        return await pool.acquire().check(script);
      } finally {
        pool.release();
        semaphore.release(organization_id);
      }
    },
    async close() {
      closing.abort();
      await pool.close();
    },
  };
}
