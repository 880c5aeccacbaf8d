import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { openBlobs } from "#infra/blobs.ts";
import { removeUnnamedBlobs } from "#infra/postgres/cleanUp.ts";
import { testFolder } from "#test/harness.ts";
import { aLog, change, named } from "./log.ts";

test("blobs that no event came to name go, and those of living things stay", async () => {
  const [its, blobs] = [await aLog(), openBlobs(await testFolder())];
  const { stream, thing, event } = named("A");
  await its.log.append(change(stream, { event }));
  const kept = await blobs.put(`org/${thing}`, Buffer.from("kept"));
  const orphan = await blobs.put(`org/thread-${randomUUID()}/turn-${randomUUID()}`, Buffer.from("orphan"));
  const stores = { blobs, dataKeys: its.log };

  expect(await removeUnnamedBlobs(stores, 60_000)).toBe(0);
  expect(await removeUnnamedBlobs(stores, -1)).toBe(1);
  expect(await blobs.get(orphan)).toBeUndefined();
  expect((await blobs.get(kept))?.toString()).toBe("kept");
  await its.close();
});
