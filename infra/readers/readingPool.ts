import { startReadingProcess, type ProcessOptions, type ReadingProcess } from "./readingProcess.ts";

/** Starts reading processes on demand, and keeps idle ones for `idle_ms`. */
export const createReadingPool = ({ idle_ms, ...options }: ProcessOptions & { idle_ms: number }) => {
  const processes = new Set<ReadingProcess>();
  const idle: { process: ReadingProcess; timer: NodeJS.Timeout }[] = [];
  let isClosed = false;

  const start = (): ReadingProcess => {
    const process = startReadingProcess(options);
    processes.add(process);
    void process.exited.then(() => processes.delete(process));
    return process;
  };
  const keep = (process: ReadingProcess): void => {
    if (isClosed) return process.kill();
    idle.push({ process, timer: setTimeout(process.kill, idle_ms).unref() });
  };

  return {
    /** An idle process, or a new one. */
    take(): ReadingProcess {
      for (let last = idle.pop(); last; last = idle.pop()) {
        clearTimeout(last.timer);
        if (last.process.isAlive()) return last.process;
      }
      return start();
    },
    keep,
    /** Ends a process, and starts another so that the next file need not wait for it. */
    replace(process: ReadingProcess): void {
      process.kill();
      keep(start());
    },
    isClosed: () => isClosed,
    /** Ends all processes, and waits until they are gone. */
    async close(): Promise<void> {
      isClosed = true;
      for (const process of processes) process.kill();
      await Promise.all([...processes].map(({ exited }) => exited));
    },
  };
};
