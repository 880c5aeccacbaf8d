/** Milliseconds of processor time that this thread computes for a call. The clock would also count other processes. */
export function computingTime(call: () => unknown): number {
  const start = process.threadCpuUsage();
  call();
  const { user, system } = process.threadCpuUsage(start);
  return (user + system) / 1000;
}
