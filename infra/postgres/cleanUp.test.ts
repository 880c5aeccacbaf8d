import { expect, test } from "vitest";
import { cleanUp, type CleanUpOptions } from "./cleanUp.ts";

test("the clean-up ends when its process is asked to, however many blobs are left", async () => {
  const stopping = new AbortController();
  const errors: unknown[] = [];
  let removed = 0;
  const options: CleanUpOptions = {
    db: { query: async () => [] },
    blobs: {
      removePartsOlderThan: async () => {},
      async *foldersOlderThan() {
        yield* ["org/file-1", "org/file-2", "org/file-3"];
      },
      async removeAll() {
        removed += 1;
        stopping.abort();
      },
    },
    dataKeys: { find: async () => new Map() },
    clock: { isOpen: () => true },
    onError: (error) => errors.push(error),
  };
  await cleanUp(options, stopping.signal);
  expect([removed, errors]).toEqual([1, []]);
});
