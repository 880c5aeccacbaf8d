import { expect, test } from "vitest";
import { longestTurn } from "#test/computingTime.ts";
import { decodeUtf8 } from "./decodeUtf8.ts";

test.each(["", "\ufeffa", "aé漢😀".repeat(400_000)])("text number %# is decoded as by Buffer", async (text) => {
  expect(await decodeUtf8(Buffer.from(text))).toBe(text);
});

test("bytes that are no UTF-8 are decoded as by Buffer", async () => {
  const bytes = Buffer.concat([Buffer.alloc(1024 * 1024 - 1, "a"), Buffer.from([0xe6, 0xbc, 0xff, 0x61, 0xe6])]);
  expect(await decodeUtf8(bytes)).toBe(bytes.toString());
});

test("50 MB of text do not hold the event loop", async () => {
  const bytes = Buffer.from("漢".repeat(16_000_000));
  let length = 0;
  expect(await longestTurn(async () => void ({ length } = await decodeUtf8(bytes)))).toBeLessThan(50);
  expect(length).toBe(16_000_000);
});
