export interface PooledProcess {
  isAlive(): boolean;
  /** Number of pieces of work running in it. */
  running(): number;
  end(): void;
  /** Resolves when it has ended. */
  gone: Promise<void>;
}

interface ProcessPoolOptions<P> {
  max: number;
  start(): P;
  /** Work in the least busy process at which another process is started. */
  busyAt: number;
  /** Whether work then goes to the new process; otherwise it goes to the busy one, which can begin at once. */
  usesNew: boolean;
  /** Milliseconds without work after which all processes end. */
  idle_ms: number;
}

/** Processes that start on demand and end when idle. */
export function createProcessPool<P extends PooledProcess>(options: ProcessPoolOptions<P>) {
  const { max, busyAt, usesNew, idle_ms } = options;
  const processes = new Set<P>();
  let active = 0;
  let isClosed = false;
  let idleTimer: NodeJS.Timeout | undefined;

  const alive = (): P[] => [...processes].filter((process) => process.isAlive());
  function start(): P {
    const started = options.start();
    processes.add(started);
    void started.gone.then(() => processes.delete(started));
    return started;
  }
  function endAll(): void {
    for (const process of processes) process.end();
  }

  return {
    alive,
    /** Chooses a process for a piece of work. Call `release` when the work ends. */
    acquire(): P {
      active += 1;
      clearTimeout(idleTimer);
      const usable = alive();
      const [least] = usable.toSorted((a, b) => a.running() - b.running());
      if (!least) return start();
      if (least.running() < busyAt || usable.length >= max) return least;
      const started = start();
      return usesNew ? started : least;
    },
    release(): void {
      active -= 1;
      if (active === 0 && !isClosed) idleTimer = setTimeout(endAll, idle_ms).unref();
    },
    /** Ends all processes; resolves when they have ended. */
    async close(): Promise<void> {
      isClosed = true;
      clearTimeout(idleTimer);
      endAll();
      await Promise.all([...processes].map(({ gone }) => gone));
    },
  };
}
