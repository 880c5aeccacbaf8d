import { afterEach, expect, test, vi } from "vitest";
import type { ReadingProgress } from "#events/readingProgress.ts";
import { reportProgress } from "./reportProgress.ts";

afterEach(() => void vi.useRealTimers());

test("progress is reported at the start and every two seconds, however many pages are read between", () => {
  vi.useFakeTimers();
  const reports: ReadingProgress[] = [];
  const { update, end } = reportProgress((progress) => void reports.push(progress), 300);
  for (let page = 1; page <= 100; page++) update({ pages_read: page, pages_total: 250 });
  vi.advanceTimersByTime(4_500);
  end();
  vi.advanceTimersByTime(60_000);
  const later = { pages_read: 100, pages_total: 250 };
  expect(reports).toEqual([{ pages_read: 0, pages_total: 300 }, later, later]);
});
