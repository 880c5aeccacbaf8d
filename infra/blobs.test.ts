import { chmod, mkdir, mkdtemp, readdir, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import { StorageUnavailable } from "#events/ports.ts";
import { openBlobs } from "./blobs.ts";
import { verifyDisk } from "./verifyDisk.ts";

const directory = await mkdtemp(join(tmpdir(), "blobs-"));
afterAll(() => rm(directory, { recursive: true }));
const blobs = openBlobs(directory);

test("removing a blob keeps its folder for other blobs, and removes it with the last one", async () => {
  const [first, second] = [await blobs.put("o/one", Buffer.from("1")), await blobs.put("o/one", Buffer.from("2"))];
  await blobs.remove(first);
  expect((await blobs.get(second))?.toString()).toBe("2");
  await blobs.remove(second);
  expect(await readdir(join(directory, "o"))).toEqual([]);
  await blobs.remove(second);
});

test("a blob that is put while its folder is removed is not lost", async () => {
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

test("a linked blob keeps its bytes until its last key is removed, and counts as new", async () => {
  const first = await blobs.put("o/file", Buffer.from("shared"));
  const old = new Date(Date.now() - 3_600_000);
  await utimes(join(directory, first), old, old);
  const second = (await blobs.link("o/turn", first))!;
  await blobs.removeAll("o/file");
  expect((await blobs.get(second))?.toString()).toBe("shared");
  for await (const folder of blobs.foldersOlderThan(60_000)) expect(folder).not.toBe("o/turn");
  await blobs.remove(second);
  expect(await blobs.get(second)).toBeUndefined();
  expect(await blobs.link("o/turn", first)).toBeUndefined();
});

/** How many calls of the file system, one after the other, are answered while something is removed. */
async function countCalls(removal: Promise<unknown>): Promise<number> {
  let isOver = false;
  const ending = removal.finally(() => (isOver = true));
  let calls = 0;
  for (; !isOver; calls++) await stat(directory);
  await ending;
  return calls;
}

async function fillFolder(path: string, files: number): Promise<void> {
  await mkdir(path, { recursive: true });
  await Promise.all(Array.from({ length: files }, (_, n) => writeFile(join(path, `${n}`), "sealed")));
}

test("removing many blobs does not hold up other calls of the file system", async () => {
  const [run, turn] = [join(directory, "o/run"), join(directory, "o/run/turn")];
  for (const folder of [run, turn]) await fillFolder(folder, 300);
  // if all of them were removed at once, each call would wait for hundreds of others
  expect(await countCalls(blobs.removeAll("o/run"))).toBeGreaterThan(60);
  const threads = Array.from({ length: 300 }, (_, n) => `o/thread-${n}`);
  for (const thread of threads) await fillFolder(join(directory, thread), 1);
  expect(await countCalls(Promise.all(threads.map((thread) => blobs.removeAll(thread))))).toBeGreaterThan(60);
  const left = await readdir(join(directory, "o"));
  expect(left.filter((name) => /^(run|thread-\d+)$/.test(name))).toEqual([]);
});

test("incomplete blobs that a dead process left are removed when they are old", async () => {
  const key = await blobs.put("o/parts", Buffer.from("complete"));
  const [old, fresh] = [join(directory, "o/parts/old.part"), join(directory, "o/parts/fresh.part")];
  for (const path of [old, fresh]) await writeFile(path, "incomplete");
  const hours = new Date(Date.now() - 7_200_000);
  for (const path of [old, join(directory, key)]) await utimes(path, hours, hours);
  await blobs.removePartsOlderThan(3_600_000);
  expect((await readdir(join(directory, "o/parts"))).toSorted()).toEqual([basename(key), "fresh.part"].toSorted());
});

test("a search for old blobs ends when it is aborted", async () => {
  const key = await blobs.put("o/many", Buffer.from("one of many"));
  const aborted = AbortSignal.abort(new Error("asked to end"));
  await expect(Array.fromAsync(blobs.foldersOlderThan(-60_000, aborted))).rejects.toThrow("asked to end");
  await expect(blobs.removePartsOlderThan(-60_000, aborted)).rejects.toThrow("asked to end");
  expect(await blobs.get(key)).toBeDefined();
});

test("a clock that is two days ahead makes no blob old", async () => {
  const key = await blobs.put("o/uncommitted", Buffer.from("new"));
  const part = join(directory, "o/uncommitted/fresh.part");
  await writeFile(part, "incomplete");
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 2 * 86_400_000 });
  try {
    await blobs.removePartsOlderThan(3_600_000);
    for await (const folder of blobs.foldersOlderThan(86_400_000)) expect(folder).not.toBe("o/uncommitted");
  } finally {
    vi.useRealTimers();
  }
  const left = await readdir(join(directory, "o/uncommitted"));
  expect(left.toSorted()).toEqual([basename(key), "fresh.part"].toSorted());
});

/** Runs work without the rights of root, whom no mode of a folder stops. */
async function asNobody<T>(work: () => Promise<T>): Promise<T> {
  if (process.getuid?.() !== 0) return work();
  process.seteuid!(65_534);
  return work().finally(() => process.seteuid!(0));
}

test("a folder in which this user may not write is a disk that cannot be used, and no fault of the content", async () => {
  const foreign = await mkdtemp(join(directory, "foreign-"));
  await chmod(foreign, 0o500);
  const put = asNobody(() => openBlobs(foreign).put("o/one", Buffer.from("1")));
  await expect(put).rejects.toThrow(StorageUnavailable);
  await rm(foreign, { recursive: true });
});

test("blobs that are stored at once share verifications of the disk", async () => {
  let verifications = 0;
  const counted = openBlobs(join(directory, "shared"), async (path) => {
    verifications += 1;
    await verifyDisk(path);
  });
  await counted.put("o/first", Buffer.from("1"));
  expect(verifications).toBe(1);
  await Promise.all(Array.from({ length: 40 }, (_, n) => counted.put(`o/${n}`, Buffer.from("1"))));
  expect(verifications).toBeLessThan(41);
});
