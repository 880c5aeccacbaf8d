import { setTimeout as sleep } from "node:timers/promises";
import { isAlive, signal, type Mark } from "./mark.ts";

/** Waits until the process is gone; false when it still lives after `ms`. */
export const isGoneWithin = async (mark: Mark, ms: number) => {
  for (const until = Date.now() + ms; isAlive(mark); await sleep(20)) if (Date.now() > until) return false;
  return true;
};

/** Ends a process: the polite signal, and SIGKILL to its whole group when it has not gone after `graceMs`. Never touches a later process of the same pid. */
export const endProcess = async (mark: Mark, polite: NodeJS.Signals, graceMs: number) => {
  if (!isAlive(mark)) return;
  signal(mark.pid, polite);
  if (await isGoneWithin(mark, graceMs)) return;
  signal(mark.pid, "SIGKILL", true);
  await isGoneWithin(mark, 5_000);
};
