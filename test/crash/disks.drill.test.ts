import { statfsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openDisks } from "../../dev/crash/faults/disks.ts";
import { afterTest } from "../cleanUp.ts";
import { testFolder } from "../harness.ts";

test("the crash harness fills a disk that is full already, and its space is back when both faults end", async () => {
  const folder = await testFolder();
  const disks = openDisks(join(folder, "data"), join(folder, "disks"));
  afterTest(() => disks.close());
  const { bfree } = statfsSync(join(folder, "data", "blobs"));
  await Promise.all([disks.fill("blobs", 100), disks.fill("blobs", 100)]);
  await expect.poll(() => statfsSync(join(folder, "data", "blobs")).bfree).toBe(bfree);
});
