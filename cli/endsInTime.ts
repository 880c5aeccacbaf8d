import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";

/** Whether the work ends at most `ms` after the signal aborts. Throws the error of the work. */
export async function endsInTime(work: Promise<unknown>, stopping: AbortSignal, ms: number): Promise<boolean> {
  const ended = new AbortController();
  const { signal } = ended;
  const runOut = async (): Promise<boolean> => {
    if (!stopping.aborted) await once(stopping, "abort", { signal });
    await sleep(ms, undefined, { signal });
    return false;
  };
  try {
    return await Promise.race([work.then(() => true), runOut()]);
  } finally {
    ended.abort();
  }
}
