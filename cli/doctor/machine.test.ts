import { expect, test } from "vitest";
import { testFolder } from "#test/harness.ts";
import { checkDisk } from "./machine.ts";

test("svc doctor fails for a disk that makes the service refuse new work", async () => {
  const DATA_DIR = await testFolder();
  expect(await checkDisk({ DATA_DIR, FREE_DISK_PERCENT: [0, 0, 0] })).toMatch(/^[\d.]+ GiB free$/);
  await expect(checkDisk({ DATA_DIR, FREE_DISK_PERCENT: [100, 3, 1] })).rejects.toMatchObject({
    what: expect.stringMatching(/^[\d.]+ GiB free, [\d.]+ % of the disk$/),
    next: expect.stringContaining("below 100 % new documents are refused"),
  });
});
