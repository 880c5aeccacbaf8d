import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { testFolder } from "#test/harness.ts";
import { requireBlobs, requireBlobsFolder, tableFile } from "./format.ts";
import { readTable } from "./readTable.ts";

function put(path: string, content: string | Buffer): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

test("a backup that lacks blobs is not restored as if it were whole, and what is no blob does not count", async () => {
  const folder = await testFolder();
  await expect(requireBlobs(folder, { blobs: 2 })).rejects.toThrow("blobs has 0 of the 2 blobs of the backup: copy");
  put(join(folder, "blobs/o/1"), "one");
  put(join(folder, "blobs/o/2.part"), "tw");
  await expect(requireBlobs(folder, { blobs: 2 })).rejects.toThrow("set blobs in its manifest.json to 1.");
  put(join(folder, "blobs/o/2"), "two");
  await requireBlobs(folder, { blobs: 2 });
});

test("a backup is not made of a folder that the service never used", async () => {
  const folder = await testFolder();
  expect(() => requireBlobsFolder(join(folder, "blobs"))).toThrow("blobs does not exist: set DATA_DIR to the folder");
  mkdirSync(join(folder, "blobs"));
  requireBlobsFolder(join(folder, "blobs"));
});

test("a table that is cut off or missing is named", async () => {
  const folder = await testFolder();
  const path = tableFile(folder, "log.events");
  const read = () => Array.fromAsync(readTable(folder, "log.events"));
  await expect(read()).rejects.toThrow(`${path} cannot be read to its end (${path} does not exist`);
  const whole = gzipSync("{}\n{}\n");
  put(path, whole.subarray(0, -4));
  await expect(read()).rejects.toThrow(
    `${path} cannot be read to its end (unexpected end of file): restore another backup`,
  );
  put(path, whole);
  expect(await read()).toEqual(["{}", "{}"]);
});
