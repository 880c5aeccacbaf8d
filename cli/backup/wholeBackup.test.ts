import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { testFolder } from "#test/harness.ts";
import { fillFolder, requireBlobs, requireBlobsFolder, tableFile } from "./format.ts";
import { readTable } from "./readTable.ts";

function put(path: string, content: string | Buffer): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

test("a backup that lacks blobs is not restored, and files that are not blobs do not count", async () => {
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

test("a backup that fails leaves nothing, so that the same command can be run again; a killed one is named", async () => {
  const folder = join(await testFolder(), "new");
  const table = tableFile(folder, "log.keys");
  const failing = fillFolder(folder, async () => {
    put(table, "keys");
    put(join(folder, "blobs/o/1"), "one");
    throw new Error("The disk is full");
  });
  await expect(failing).rejects.toThrow("The disk is full");
  expect(readdirSync(folder)).toEqual([]);
  expect(await fillFolder(folder, async () => put(table, "keys"))).toBeUndefined();
  const again = () => fillFolder(folder, async () => {});
  await expect(again()).rejects.toThrow("has a backup that was interrupted: remove the folder, or name a new one.");
  put(join(folder, "manifest.json"), "{}");
  await expect(again()).rejects.toThrow("is not empty: name a new folder.");
});
