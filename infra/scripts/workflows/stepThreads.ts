/** Attempts of one tenant that share a thread while there are few of its; a thread takes 0.1 s of processor time to start. */
const FEW = 4;
/** Threads of one tenant before more attempts share each. */
const SPREAD = 4;
const MANY = 16;
/** Threads that may stand idle. */
const IDLE = 8;

interface Thread {
  n: number;
  tenant: string;
  running: number;
}

/**
 * Threads of one process. Each works for one tenant at a time, so that no script holds up or ends another tenant's; the
 * attempts of a tenant share threads where there are many, because most of them wait.
 */
export function createThreads() {
  const threads = new Map<number, Thread>();
  let opened = 0;
  function open(tenant: string): Thread {
    const thread = { n: opened++, tenant, running: 0 };
    threads.set(thread.n, thread);
    return thread;
  }
  function choose(tenant: string): Thread {
    const all = [...threads.values()];
    const idle = all.filter(({ running }) => running === 0);
    const free = idle.find((thread) => thread.tenant === tenant) ?? idle[0];
    if (free) return free;
    const own = all.filter((thread) => thread.tenant === tenant).toSorted((a, b) => a.running - b.running);
    const least = own[0];
    const most = own.length < SPREAD ? FEW : MANY;
    return least && least.running < most ? least : open(tenant);
  }
  return {
    take(tenant: string): number {
      const thread = choose(tenant);
      thread.tenant = tenant;
      thread.running += 1;
      return thread.n;
    },
    /** Whether the thread is to be ended: more stand idle than are needed. */
    leave(n: number): boolean {
      const thread = threads.get(n);
      if (!thread) return false;
      thread.running -= 1;
      if (thread.running > 0 || threads.size <= IDLE) return false;
      threads.delete(n);
      return true;
    },
    lost: (n: number): void => void threads.delete(n),
  };
}
