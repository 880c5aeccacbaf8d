import type { ReadingProgress } from "#events/readingProgress.ts";

/** How often progress is reported, however fast the pages are: reports cost the same for every file. */
const INTERVAL_MS = 2_000;

/** Reports how far a reading is, now and regularly, until `end`. */
export function reportProgress(report: (progress: ReadingProgress) => void, pages_total: number) {
  let progress: ReadingProgress = { pages_read: 0, pages_total };
  const send = (): void => report(progress);
  send();
  const timer = setInterval(send, INTERVAL_MS).unref();
  return {
    update: (next: ReadingProgress): void => void (progress = next),
    end: (): void => clearInterval(timer),
  };
}
