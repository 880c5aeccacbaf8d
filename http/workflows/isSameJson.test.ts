import { isDeepStrictEqual } from "node:util";
import { expect, test } from "vitest";
import { longestTurn } from "#test/computingTime.ts";
import { isSameJson } from "./isSameJson.ts";

const SHORT = [
  "null",
  "0",
  "-0",
  "1",
  '"1"',
  "[]",
  "{}",
  "[1]",
  '{"0":1}',
  '{"a":1,"b":[2]}',
  '{"b":[2],"a":1}',
  '{"a":1}',
];
const LONG = JSON.stringify("x".repeat(100_000));
const TEXTS = [...SHORT, '{"__proto__":1}', '{"__proto__":{}}', '{"a":1,"b":[3]}'];

test.each([
  ["short", (text: string) => text],
  ["long", (text: string) => `[${LONG},${text}]`],
])("%s texts are the same if their values are", async (_, toText) => {
  for (const one of TEXTS)
    for (const other of TEXTS)
      expect([one, other, await isSameJson(toText(one), toText(other))]).toEqual([
        one,
        other,
        isDeepStrictEqual(JSON.parse(one), JSON.parse(other)),
      ]);
});

test.each([
  ["objects", "{},", 340_000],
  ["numbers", "1,", 500_000],
])(
  "two results of 1 MiB of %s that differ at their end are compared without holding the event loop",
  async (_, item, count) => {
    const [one, other] = [1, 2].map((last) => `[${item.repeat(count)}${last}]`) as [string, string];
    let isSame: boolean | undefined;
    const compare = async () => void (isSame = await isSameJson(one, other));
    expect(await longestTurn(compare)).toBeLessThan(50);
    expect(isSame).toBe(false);
  },
);
