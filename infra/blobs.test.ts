import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { openBlobs } from "./blobs.ts";

const directory = await mkdtemp(join(tmpdir(), "blobs-"));
afterAll(() => rm(directory, { recursive: true }));
const blobs = openBlobs(directory);

test("the last blob of a folder takes the folder with it, and others stay", async () => {
  const [first, second] = [await blobs.put("o/one", Buffer.from("1")), await blobs.put("o/one", Buffer.from("2"))];
  await blobs.remove(first);
  expect((await blobs.get(second))?.toString()).toBe("2");
  await blobs.remove(second);
  expect(await readdir(join(directory, "o"))).toEqual([]);
  await blobs.remove(second);
});

test("what is put while a folder is taken away is there", async () => {
  const kept = await Promise.all(
    Array.from({ length: 40 }, async (_, n) => {
      await blobs.remove(await blobs.put("o/busy", Buffer.from("gone")));
      return n % 10 === 0 ? blobs.put("o/busy", Buffer.from(`${n}`)) : undefined;
    }),
  );
  const keys = kept.filter((key) => key !== undefined);
  expect(keys).toHaveLength(4);
  for (const key of keys) expect(await blobs.get(key)).toBeDefined();
});
