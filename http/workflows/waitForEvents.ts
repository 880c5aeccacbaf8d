import type { HttpDeps } from "../base/deps.ts";
import { createSharedPoll, type WaitFor } from "./sharedPoll.ts";

/** Waits until a stream has events after `version`. */
export type WaitForEvents = WaitFor<{ stream: string; version: number }>;

export const createWaitForEvents = ({ log, onCommitted }: Pick<HttpDeps, "log" | "onCommitted">): WaitForEvents =>
  createSharedPoll(onCommitted, async (waiters) => {
    const versions = await log.versions([...new Set(waiters.map(({ stream }) => stream))]);
    for (const waiter of waiters) if ((versions.get(waiter.stream) ?? 0) > waiter.version) waiter.done();
  });
