import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { blobFolder, newId, streamName } from "#events/ids.ts";
import { openKeyring } from "./keyring.ts";
import { openVault } from "./vault.ts";

const stored = new Map<string, Buffer>();
const keys = new Map<string, string>();
const vault = openVault({
  keyring: openKeyring(randomBytes(32)),
  blobs: {
    async put(folder, sealed) {
      const key = `${folder}/${newId()}`;
      stored.set(key, Buffer.from(sealed));
      return key;
    },
    get: async (key) => stored.get(key),
    link: async () => undefined,
  },
  dataKeys: { find: async (things) => new Map([...keys].filter(([thing]) => things.includes(thing))) },
});

function newThing() {
  const thing = streamName("file", newId());
  return { thing, wrapped_key: vault.createKey(thing), folder: blobFolder(newId(), thing) };
}

describe("the vault", () => {
  test("stores bytes sealed in the folder of their thing, and opens them again", async () => {
    const owner = newThing();
    const blob = await vault.put(owner, Buffer.from("plain text"));
    expect(blob.startsWith(`${owner.folder}/`)).toBe(true);
    expect(stored.get(blob)!.includes("plain text")).toBe(false);
    expect((await vault.get(owner, blob))!.toString()).toBe("plain text");
  });

  test("looks up the data key of a thing in the log", async () => {
    const { thing, ...owner } = newThing();
    keys.set(thing, owner.wrapped_key);
    const blob = await vault.put({ thing, ...owner }, Buffer.from("plain text"));
    expect(await vault.findKey(thing)).toBe(owner.wrapped_key);
    expect((await vault.get({ thing }, blob))!.toString()).toBe("plain text");
  });

  test("returns nothing for an erased thing or a removed blob", async () => {
    const owner = newThing();
    const blob = await vault.put(owner, Buffer.from("plain text"));
    expect(await vault.findKey(owner.thing)).toBeUndefined();
    expect(await vault.get({ thing: owner.thing }, blob)).toBeUndefined();
    expect(await vault.get({ thing: owner.thing, wrapped_key: null }, blob)).toBeUndefined();
    expect(await vault.get(owner, `${owner.folder}/unknown`)).toBeUndefined();
  });

  test.each(["empty", "cut", "altered"])("names a blob that is %s", async (how) => {
    const owner = newThing();
    const blob = await vault.put(owner, Buffer.from("plain text"));
    const sealed = stored.get(blob)!;
    if (how === "altered") sealed[sealed.length - 1]! ^= 1;
    else stored.set(blob, how === "cut" ? sealed.subarray(0, -1) : Buffer.alloc(0));
    await expect(vault.get(owner, blob)).rejects.toThrow(`the blob ${blob} is damaged`);
  });

  test("does not open the bytes of one thing as those of another", async () => {
    const blob = await vault.put(newThing(), Buffer.from("plain text"));
    await expect(vault.get(newThing(), blob)).rejects.toThrow();
  });
});
