import { expect, test } from "vitest";
import type { ReadingRequest } from "./messages.ts";
import { MAX_FILES_PER_PROCESS, countAsFiles } from "./countAsFiles.ts";

const read = (mime_type: string, bytes: number): ReadingRequest => ({ kind: "read", mime_type, bytes });

/** Counts the requests of a kind that a process serves before it is replaced. */
const served = (request: ReadingRequest): number => {
  let count = 0;
  for (let files = 0; files < MAX_FILES_PER_PROCESS; files += countAsFiles(request)) count += 1;
  return count;
};

test.each([
  ["short Markdown", read("text/markdown", 2_000)],
  ["short text with a charset", read("text/plain; charset=utf-8", 2_000)],
  ["a short table", read("text/csv", 2_000)],
  ["short JSON", read("application/json", 2_000)],
  ["a short text that is cut again", { kind: "cut", page_count: null, pages: null, bytes: 2_000 } as const],
])("a process reads about a thousand files of %s", (_, request) => {
  expect(served(request)).toBeGreaterThanOrEqual(1_000);
  expect(served(request)).toBeLessThan(1_010);
});

test.each([
  ["a PDF", read("application/pdf", 2_000)],
  ["a Word document", read("application/vnd.openxmlformats-officedocument.wordprocessingml.document", 2_000)],
  ["a web page", read("text/html", 2_000)],
  ["a sitemap", { kind: "list", bytes: 2_000 } as const],
  ["a long text", read("text/markdown", 100_001)],
])("a process reads fifty files of %s", (_, request) => {
  expect(served(request)).toBe(50);
});
