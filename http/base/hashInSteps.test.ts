import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { HASH_AT_ONCE, hashInSteps } from "./hashInSteps.ts";

test.each([0, 1, HASH_AT_ONCE - 1, HASH_AT_ONCE, 2 * HASH_AT_ONCE + 7])(
  "%i bytes hashed in steps have the same hash as hashed at once",
  async (size) => {
    const bytes = Buffer.alloc(size, "abc");
    expect(await hashInSteps(bytes)).toBe(createHash("sha256").update(bytes).digest("hex"));
  },
);
