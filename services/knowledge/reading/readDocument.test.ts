import { expect, test, vi } from "vitest";
import type { JobDeps, ReadingJob, ReadingSlot } from "./job.ts";
import { readDocument } from "./readDocument.ts";

const collection_id = "7b5ef0c8-41d4-4f0c-8a55-0d1f0c0f7a11";
const job: ReadingJob = { stream: "document-d1", organization_id: "o1", generation: 1, attempt: 1 };

/** The streams whose heads a reading requests before any of them is answered. */
async function firstHeads(given: ReadingJob): Promise<string[]> {
  const heads = vi.fn(async (_: string[]) => new Map());
  const reading = readDocument({ log: { heads } } as unknown as JobDeps, given, {} as ReadingSlot);
  const requested = heads.mock.calls.flatMap(([streams]) => streams);
  await reading;
  return requested;
}

test("the reading of a new document requests its head and that of its collection at once, in one query", async () => {
  expect(await firstHeads({ ...job, collection_id })).toEqual([job.stream, `collection-${collection_id}`]);
  expect(await firstHeads(job)).toEqual([job.stream]);
});
