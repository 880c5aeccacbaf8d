import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import { openBlobs } from "./blobs.ts";

const calls = vi.hoisted(() => ({ verifications: 0 }));

vi.mock("./verifyDisk.ts", async (importOriginal) => {
  const { verifyDisk } = await importOriginal<typeof import("./verifyDisk.ts")>();
  return {
    verifyDisk(path: string) {
      calls.verifications += 1;
      return verifyDisk(path);
    },
  };
});

const directory = await mkdtemp(join(tmpdir(), "blobs-"));
afterAll(() => rm(directory, { recursive: true }));

test("blobs that are stored at once share verifications of the disk", async () => {
  const blobs = openBlobs(directory);
  await blobs.put("o/first", Buffer.from("1"));
  expect(calls.verifications).toBe(1);
  await Promise.all(Array.from({ length: 40 }, (_, n) => blobs.put(`o/${n}`, Buffer.from("1"))));
  expect(calls.verifications).toBeLessThan(41);
});
