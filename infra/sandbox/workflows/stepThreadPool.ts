/** Attempts of a tenant that share its first threads, because starting a thread takes 0.1 s of CPU time. */
const FIRST_ATTEMPTS_PER_THREAD = 4;
/** Number of threads of a tenant after which its threads take more attempts each. */
const SPREAD_THREADS = 4;
const MAX_ATTEMPTS_PER_THREAD = 16;
const MAX_IDLE_THREADS = 8;

interface Thread {
  n: number;
  tenant: string;
  running: number;
}

/**
 * The threads of one process. Each works for one tenant at a time, so that no script delays or ends another tenant's. Attempts of
 * one tenant share threads, because most of them wait.
 */
export function createStepThreadPool() {
  const threads = new Map<number, Thread>();
  let nextThread = 0;
  function open(tenant: string): Thread {
    const thread = { n: nextThread++, tenant, running: 0 };
    threads.set(thread.n, thread);
    return thread;
  }
  function choose(tenant: string): Thread {
    const all = [...threads.values()];
    const idle = all.filter(({ running }) => running === 0);
    const free = idle.find((thread) => thread.tenant === tenant) ?? idle[0];
    if (free) return free;
    const own = all.filter((thread) => thread.tenant === tenant).toSorted((a, b) => a.running - b.running);
    const [least] = own;
    const max = own.length < SPREAD_THREADS ? FIRST_ATTEMPTS_PER_THREAD : MAX_ATTEMPTS_PER_THREAD;
    return least && least.running < max ? least : open(tenant);
  }
  return {
    take(tenant: string): number {
      const thread = choose(tenant);
      thread.tenant = tenant;
      thread.running += 1;
      return thread.n;
    },
    /** Returns true if the thread must be ended, because enough others are idle. */
    release(n: number): boolean {
      const thread = threads.get(n);
      if (!thread) return false;
      thread.running -= 1;
      if (thread.running > 0 || threads.size <= MAX_IDLE_THREADS) return false;
      threads.delete(n);
      return true;
    },
    remove: (n: number): void => void threads.delete(n),
  };
}
