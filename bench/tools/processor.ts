import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

interface Times {
  parent: number;
  /** Clock ticks of its own, and of children that have ended. */
  own: number;
  ended: number;
}

const timesOf = (pid: number): Times | undefined => {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ")
      .map(Number);
    return { parent: fields[1]!, own: fields[11]! + fields[12]!, ended: fields[13]! + fields[14]! };
  } catch {
    return undefined;
  }
};

let perSecond: number | undefined;

/**
 * Milliseconds of processor time that these processes and all below them have taken; undefined where there is no /proc. What
 * it says of a piece of work hardly depends on what else the machine does.
 */
export const processorMs = (pids: number[]): number | undefined => {
  const all = new Map<number, Times>();
  try {
    for (const name of readdirSync("/proc")) {
      const times = /^\d+$/.test(name) ? timesOf(Number(name)) : undefined;
      if (times) all.set(Number(name), times);
    }
  } catch {
    return undefined;
  }
  perSecond ??= Number(execFileSync("getconf", ["CLK_TCK"], { encoding: "utf8" }));
  const isBelow = (pid: number): boolean => pids.includes(pid) || (all.has(pid) && isBelow(all.get(pid)!.parent));
  const ticks = [...all].filter(([pid]) => isBelow(pid)).map(([, { own, ended }]) => own + ended);
  return (ticks.reduce((sum, one) => sum + one, 0) / perSecond) * 1000;
};
