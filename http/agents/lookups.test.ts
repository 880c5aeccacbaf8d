import { expect, test } from "vitest";
import { hasThread } from "./lookups.ts";

const THREAD = "0198c0de-0000-7000-8000-00000000000a";

test("a thread whose first turn is not in the read model yet is found", async () => {
  let isCurrent = false;
  const http = {
    db: { query: async () => (isCurrent ? [{}] : []) } as never,
    waitUntilCurrent: async (projections: string[], stream?: string) => {
      expect([projections, stream]).toEqual([["turns"], `thread-${THREAD}`]);
      isCurrent = true;
    },
  };
  expect(await hasThread(http, "o1", THREAD, "scope")).toBe(true);
});
