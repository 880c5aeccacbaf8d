import { describe, expect, test } from "vitest";
import { computingTime } from "#test/computingTime.ts";
import type { FoundPassage } from "./engine.ts";
import { createOperatorTest, MAX_EXCLUDED, MAX_QUOTED, readOperators } from "./operators.ts";

const passage = (text: string, title = "") => ({ title, text }) as FoundPassage;
const fits = (query: string, text: string, title?: string) =>
  createOperatorTest(readOperators(query))(passage(text, title));

describe("the operators of a query", () => {
  test.each<[query: string, required: string[], excluded: string[], text: string]>([
    ["a plain question", [], [], "a plain question"],
    ['find "Old Pier" now', ["old pier"], [], 'find "Old Pier" now'],
    ["ship -sail", [], ["sail"], "ship  "],
    ['ship -"old pier" -”', [], ["old pier"], "ship   -”"],
    [
      "„alter Kai“ «vieux quai» “old pier”",
      ["alter kai", "vieux quai", "old pier"],
      [],
      "„alter Kai“ «vieux quai» “old pier”",
    ],
    ["well-known re- --force -5 - x", [], [], "well-known re- --force -5 - x"],
    ["ship -node.js", [], ["node js"], "ship  "],
    ['"', [], [], '"'],
    ['"" "?!" -"', [], [], '"" "?!" -"'],
  ])("are read from %j", (query, required, excluded, text) => {
    const read = readOperators(query);
    const join = (phrases: string[][]) => phrases.map((words) => words.join(" "));
    expect([join(read.required), join(read.excluded), read.text]).toEqual([required, excluded, text]);
  });

  test("are limited: further ones are read as words, and so is a query that only excludes", () => {
    const many = (count: number, one: string) => `x ${`${one} `.repeat(count)}`;
    expect(readOperators(many(MAX_QUOTED, '"a b"')).required).toHaveLength(MAX_QUOTED);
    expect(readOperators(many(MAX_QUOTED + 1, '"a b"')).required).toHaveLength(MAX_QUOTED);
    expect(readOperators(many(MAX_EXCLUDED, "-a")).excluded).toHaveLength(MAX_EXCLUDED);
    const { excluded, text } = readOperators(many(MAX_EXCLUDED + 1, "-a"));
    expect([excluded.length, text.trim().split(/\s+/)]).toEqual([MAX_EXCLUDED, ["x", "-a"]]);
    const onlyExcluded = '-sail -"old pier"';
    expect(readOperators(onlyExcluded)).toEqual({ required: [], excluded: [], text: onlyExcluded });
  });

  test.each(['"', "“", "„", "«", '-"', " -a", "“„«"])("of %j, repeated, are read in milliseconds", (piece) => {
    expect(computingTime(() => void readOperators(piece.repeat(500_000)))).toBeLessThan(250);
  });
});

describe("a passage fits", () => {
  test.each<[query: string, text: string, fits: boolean]>([
    ['"the old pier"', "At THE old\npier.", true],
    ['"the old pier"', "The pier is old.", false],
    ['"art"', "A party.", false],
    ['"cafe"', "The Café opens.", true],
    ['"桟橋"', "古い桟橋です。", true],
    ['"node.js"', "With Node JS.", true],
    ['"की"', "कि", false],
    ['"old pier 🚢"', "The old pier: 🚢!", true],
    ['"1½"', "It takes 1½ hours.", true],
    ["ship -pier", "A ship.", true],
    ["ship -pier", "A ship at the pier.", false],
    ["ship -pier", "A ship of the piers.", true],
    ['ship -"old pier"', "A ship at the pier, which is old.", true],
    ['"a ship" -pier', "A ship.", true],
  ])("%j: %j is %j", (query, text, expected) => expect(fits(query, text)).toBe(expected));

  test("with the words of its title", () => {
    expect(fits('"harbour log"', "Nothing.", "harbour-log.md")).toBe(true);
    expect(fits("ship -log", "A ship.", "harbour-log.md")).toBe(false);
  });
});
