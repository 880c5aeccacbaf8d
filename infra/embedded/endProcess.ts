import { setTimeout as sleep } from "node:timers/promises";
import { isAlive, signal, type ProcessIdentity } from "./processIdentity.ts";

/** Waits until the process has ended; false if it is still alive after `ms`. */
export const endsWithin = async (identity: ProcessIdentity, ms: number) => {
  for (const until = performance.now() + ms; isAlive(identity); await sleep(20))
    if (performance.now() > until) return false;
  return true;
};

/** Ends a process with a signal, and its whole group with SIGKILL after the timeout. Never signals a later process with the same pid. */
export const endProcess = async (identity: ProcessIdentity, stopSignal: NodeJS.Signals, timeoutMs: number) => {
  if (!isAlive(identity)) return;
  signal(identity.pid, stopSignal);
  if (await endsWithin(identity, timeoutMs)) return;
  signal(identity.pid, "SIGKILL", true);
  await endsWithin(identity, 5_000);
};
