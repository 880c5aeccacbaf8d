import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { StorageUnavailable } from "#events/ports.ts";
import { openBlobs } from "#infra/blobs.ts";

test("a blob with a part that the disk cannot read counts as damaged, and nobody waits for it", async ({
  onTestFinished,
}) => {
  const directory = await mkdtemp(join(tmpdir(), "damaged-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  const blobs = openBlobs(directory);
  const key = await blobs.put("o/thing", Buffer.from("bytes"));
  await rm(join(directory, key));
  // Linux answers a read of an address without memory with EIO, as it does for a bad sector
  await symlink("/proc/self/mem", join(directory, key));
  const error: unknown = await blobs.get(key).catch((cause: unknown) => cause);
  expect(error).toMatchObject({ code: "EIO", syscall: "read" });
  expect(error).not.toBeInstanceOf(StorageUnavailable);
});
