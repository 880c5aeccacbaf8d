import { statfsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openDisks } from "../../dev/crash/faults/disks.ts";
import { afterTest } from "../cleanUp.ts";
import { testFolder } from "../harness.ts";

async function openBlobDisk() {
  const folder = await testFolder();
  const disks = openDisks(join(folder, "data"), join(folder, "disks"));
  afterTest(() => disks.close());
  return { disks, free: () => statfsSync(join(folder, "data", "blobs")).bfree };
}

test("the crash harness fills a disk that is already full, and the space is free again when both faults end", async () => {
  const { disks, free } = await openBlobDisk();
  const before = free();
  await Promise.all([disks.fill("blobs", 100), disks.fill("blobs", 100)]);
  await expect.poll(free).toBe(before);
});

test("a disk that the crash harness filled is free again even if its power is cut right after", async () => {
  const { disks, free } = await openBlobDisk();
  const before = free();
  await disks.fill("blobs", 1_000);
  await disks.cut(["blobs"], async () => () => {});
  expect(free() / before).toBeGreaterThan(0.9);
});
