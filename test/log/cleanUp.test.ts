import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { openBlobs } from "#infra/blobs.ts";
import { removeOrphanedBlobs } from "#infra/postgres/cleanUp.ts";
import { testFolder } from "#test/harness.ts";
import { openTestLog, change, named } from "./log.ts";

test("the clean-up removes blobs of items without a key, keeps all others, and removes nothing while the clock is wrong", async () => {
  const [testLog, blobs] = [await openTestLog(), openBlobs(await testFolder())];
  const { stream, thing, event } = named("A");
  await testLog.log.append(change(stream, { event }));
  const kept = await blobs.put(`org/${thing}`, Buffer.from("kept"));
  const orphan = await blobs.put(`org/thread-${randomUUID()}/turn-${randomUUID()}`, Buffer.from("orphan"));
  let isRight = false;
  const stores = { blobs, dataKeys: testLog.log, clock: { isOpen: () => isRight } };

  expect(await removeOrphanedBlobs(stores, 60_000)).toBe(0);
  expect(await removeOrphanedBlobs(stores, -1)).toBe(0);
  expect(await blobs.get(orphan)).toBeDefined();
  isRight = true;
  expect(await removeOrphanedBlobs(stores, -1)).toBe(1);
  expect(await blobs.get(orphan)).toBeUndefined();
  expect((await blobs.get(kept))?.toString()).toBe("kept");
  await testLog.close();
});
