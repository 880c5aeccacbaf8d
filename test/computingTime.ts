import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** Milliseconds of processor time that this thread computes for a call. The clock would also count other processes. */
export function computingTime(call: () => unknown): number {
  const start = process.threadCpuUsage();
  call();
  const { user, system } = process.threadCpuUsage(start);
  return (user + system) / 1000;
}

/** The longest time in milliseconds that this thread computes for work without giving the event loop its turn. */
export async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  // a turn must not be charged for what earlier tests of the process have left
  collectGarbage();
  let longest = 0;
  let isOver = false;
  const watch = async () => {
    for (let start = process.threadCpuUsage(); !isOver; start = process.threadCpuUsage()) {
      await setImmediate();
      const { user, system } = process.threadCpuUsage(start);
      longest = Math.max(longest, (user + system) / 1000);
    }
  };
  const watching = watch();
  await work().finally(() => (isOver = true));
  await watching;
  return longest;
}
