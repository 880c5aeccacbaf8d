import { z } from "zod";
import type { ReadingProgress, ReadingReports } from "#events/readingProgress.ts";

/** Reports come every 2 s. An older one is of a reading that has ended, or whose process is gone. */
const MAX_AGE_MS = 10_000;
/** Maximum readings that are remembered. Each has a process of its own, so there are far fewer. */
const MAX_READINGS = 10_000;

export const Progress = z
  .object({
    pages_read: z.int().describe("Pages that were read."),
    pages_total: z.int().describe("Pages that have to be read."),
  })
  .describe("While the text of scanned pages is recognized. It may be some seconds old.");

/** Remembers what processes report of their readings. Returns the progress of a document's or extraction's reading, if it is known. */
export function followReadings(
  onRead: ReadingReports["subscribe"],
  now: () => number = () => performance.now(),
): (stream: string) => ReadingProgress | undefined {
  // the oldest report first
  const reports = new Map<string, { progress: ReadingProgress; at: number }>();
  onRead((stream, progress) => {
    reports.delete(stream);
    reports.set(stream, { progress, at: now() });
    for (const [oldest, { at }] of reports) {
      if (reports.size <= MAX_READINGS && now() - at <= MAX_AGE_MS) break;
      reports.delete(oldest);
    }
  });
  return (stream) => {
    const report = reports.get(stream);
    return report && now() - report.at <= MAX_AGE_MS ? report.progress : undefined;
  };
}
