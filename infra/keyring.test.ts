import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { openKeyring } from "./keyring.ts";

const keyring = openKeyring(randomBytes(32));
const key = keyring.create("thing");
const OVERHEAD = 28;

test.each([0, 1, 3_999_999, 4_000_000, 4_000_001, 9_000_000])(
  "%i bytes have the same sealed format in slices as at once",
  async (length) => {
    const plain = randomBytes(length);
    const sealed = await keyring.sealLarge("thing", key, plain);
    expect(sealed.length).toBe(length + OVERHEAD);
    expect(keyring.open("thing", key, sealed).equals(plain)).toBe(true);
    expect((await keyring.openLarge("thing", key, keyring.seal("thing", key, plain))).equals(plain)).toBe(true);
  },
);

test("sealing and opening large bytes lets other work run between slices", async () => {
  const plain = Buffer.alloc(12_000_001);
  const turns = async (work: Promise<Buffer>): Promise<number> => {
    let [taken, done] = [0, false];
    const take = (): void => {
      taken += 1;
      if (!done) setImmediate(take);
    };
    setImmediate(take);
    await work.finally(() => (done = true));
    return taken;
  };
  expect(await turns(keyring.sealLarge("thing", key, plain))).toBeGreaterThanOrEqual(2);
  const sealed = keyring.seal("thing", key, plain);
  expect(await turns(keyring.openLarge("thing", key, sealed))).toBeGreaterThanOrEqual(2);
});

test("large bytes are opened in their place, so that they are in memory once", async () => {
  const plain = randomBytes(5_000_000);
  const sealed = keyring.seal("thing", key, plain);
  const opened = await keyring.openLarge("thing", key, sealed);
  expect([opened.equals(plain), opened.buffer === sealed.buffer]).toEqual([true, true]);
});

test("sealed bytes that were altered, or belong to another thing, do not open in slices", async () => {
  const sealed = keyring.seal("thing", key, Buffer.alloc(8_000_000));
  await expect(keyring.openLarge("another", key, sealed)).rejects.toThrow();
  sealed[sealed.length - 1]! ^= 1;
  await expect(keyring.openLarge("thing", key, sealed)).rejects.toThrow();
});

test("a sealed number opens only for its purpose and key, and shows neither its size nor its order", () => {
  const sealed = [1, 2, 2 ** 52].map((value) => keyring.sealNumber("a", value));
  expect(sealed.map((text) => keyring.openNumber("a", text))).toEqual([1, 2, 2 ** 52]);
  expect(keyring.sealNumber("a", 2)).toBe(sealed[1]);
  for (const text of sealed) {
    expect(text).toMatch(/^[\w-]{22}$/);
    expect(keyring.openNumber("b", text)).toBeUndefined();
    expect(openKeyring(randomBytes(32)).openNumber("a", text)).toBeUndefined();
  }
  for (const text of ["", "1", "A".repeat(22), "nonsense"]) expect(keyring.openNumber("a", text)).toBeUndefined();
});
