import type { FairSemaphore } from "#services/sharing/fairSemaphore.ts";

/** A tick that takes longer lends its permit to other tenants, so that they need not wait for it. It keeps its thread. */
const SLOW_MS = 250;
const MAX_LENT = 8;

/** Lends the permits of slow work. */
export function createPermitLender(semaphore: Pick<FairSemaphore, "lend" | "release" | "releaseLent">) {
  let lent = 0;
  return {
    /** Watches work that holds a permit. Call the returned function to release the permit. */
    watch(tenant: string): () => void {
      let isLent = false;
      const slowTimer = setTimeout(() => {
        if (lent >= MAX_LENT) return;
        isLent = true;
        lent += 1;
        semaphore.lend();
      }, SLOW_MS).unref();
      return () => {
        clearTimeout(slowTimer);
        if (!isLent) return semaphore.release(tenant);
        lent -= 1;
        semaphore.releaseLent(tenant);
      };
    },
  };
}
