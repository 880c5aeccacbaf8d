/** CPU time of this thread, in milliseconds. It does not advance while a busy machine runs something else. */
export const threadCpuMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
};

/** Measures a script's CPU time against a limit in milliseconds. Time spent waiting does not count. */
export function createCpuClock(limit_ms: number) {
  let used = 0;
  let startedAt: number | undefined;
  let isOver = false;
  const spent = (): number => used + (startedAt === undefined ? 0 : threadCpuMs() - startedAt);
  return {
    spent,
    /** Whether `check` has found the limit exceeded. */
    isOver: (): boolean => isOver,
    /** Checks the limit; the VM calls it at every interrupt. */
    check: (): boolean => (isOver ||= spent() > limit_ms),
    start: (): void => void (startedAt = threadCpuMs()),
    stop(): void {
      used = spent();
      startedAt = undefined;
    },
  };
}

export type CpuClock = ReturnType<typeof createCpuClock>;
