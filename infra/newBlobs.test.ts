import { beforeEach, expect, test, vi } from "vitest";
import type { Blobs } from "#events/vault.ts";
import { keepNewBlobs } from "./newBlobs.ts";

const stored = new Map<string, Buffer>();
const read = vi.fn(async (key: string) => stored.get(key));
const blobs = keepNewBlobs({
  async put(folder: string, sealed: Buffer) {
    const key = `${folder}/${stored.size}`;
    stored.set(key, Buffer.from(sealed));
    return key;
  },
  get: read,
  remove: async (key: string) => void stored.delete(key),
  removeAll: async () => stored.clear(),
} as unknown as Blobs);

beforeEach(() => {
  stored.clear();
  read.mockClear();
});

test("the first reader of a small new blob gets its bytes from memory, every other one from the disk", async () => {
  const sealed = Buffer.from("sealed");
  const key = await blobs.put("o/one", sealed);
  sealed.fill(0);
  const first = (await blobs.get(key))!;
  expect(first.toString()).toBe("sealed");
  expect(read).not.toHaveBeenCalled();
  first.fill(0);
  expect((await blobs.get(key))?.toString()).toBe("sealed");
  expect(read).toHaveBeenCalledOnce();
});

test("large blobs and old ones are read from the disk", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const [large, old] = [await blobs.put("o/large", Buffer.alloc(70_000)), await blobs.put("o/old", Buffer.from("1"))];
  vi.advanceTimersByTime(10_001);
  expect(await blobs.get(old)).toBeDefined();
  vi.useRealTimers();
  expect(await blobs.get(large)).toHaveLength(70_000);
  expect(read.mock.calls).toEqual([[old], [large]]);
});

test("a removed blob is gone at once", async () => {
  const [first, second] = [await blobs.put("o/a", Buffer.from("1")), await blobs.put("o/b", Buffer.from("2"))];
  await blobs.remove(first);
  expect(await blobs.get(first)).toBeUndefined();
  await blobs.removeAll("o/b");
  expect(await blobs.get(second)).toBeUndefined();
});
