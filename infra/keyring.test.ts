import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { openKeyring } from "./keyring.ts";

const keyring = openKeyring(randomBytes(32));
const key = keyring.create("thing");
const SEALED_WITH = 28;

test.each([0, 1, 3_999_999, 4_000_000, 4_000_001, 9_000_000])(
  "%i bytes are sealed and opened in slices as they are at once",
  async (length) => {
    const plain = randomBytes(length);
    const sealed = await keyring.sealLarge("thing", key, plain);
    expect(sealed.length).toBe(length + SEALED_WITH);
    expect(keyring.open("thing", key, sealed).equals(plain)).toBe(true);
    expect((await keyring.openLarge("thing", key, keyring.seal("thing", key, plain))).equals(plain)).toBe(true);
  },
);

test("others run between the slices", async () => {
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

test("what was altered, or is another's, does not open in slices either", async () => {
  const sealed = keyring.seal("thing", key, Buffer.alloc(8_000_000));
  await expect(keyring.openLarge("another", key, sealed)).rejects.toThrow();
  sealed[sealed.length - 1]! ^= 1;
  await expect(keyring.openLarge("thing", key, sealed)).rejects.toThrow();
});
