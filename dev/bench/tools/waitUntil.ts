import { setTimeout as sleep } from "node:timers/promises";
import type { Child } from "./child.ts";

const MAX_WAIT_S = 600;

/** Calls `look` at this interval until it returns a value. Throws when the process ends, or after `MAX_WAIT_S`. */
export const waitUntil = async <T>(
  child: Child,
  what: string,
  interval_ms: number,
  look: () => Promise<T | undefined>,
): Promise<T> => {
  for (const start = performance.now(); performance.now() - start < MAX_WAIT_S * 1000; await sleep(interval_ms)) {
    child.assertAlive();
    const value = await look();
    if (value !== undefined) return value;
  }
  throw new Error(`gave up waiting for ${what} after ${MAX_WAIT_S} s`);
};

/** Waits until a GET of this URL succeeds. */
export const waitForAnswer = async (child: Child, url: string): Promise<void> => {
  const isUp = (): Promise<true | undefined> =>
    fetch(url).then(
      ({ ok }) => ok || undefined,
      () => undefined,
    );
  await waitUntil(child, url, 100, isUp);
};
