import { describe, expect, it } from "vitest";
import { joinLines, collectVocabulary } from "./joinLines.ts";

const words = collectVocabulary([
  "a well-known method",
  "we compile the compiler",
  "mixed results of every mode",
  "post offices",
]);

describe("joined lines", () => {
  it.each([
    [["a com-", "piler"], "a compiler"],
    [["a com\u2010", "piler"], "a compiler"],
    [["a com\u00AD", "piler"], "a compiler"],
    [["soft\u00ADer inside"], "softer inside"],
    [["the well-", "known way"], "the well-known way"],
    [["a mixed-", "mode approach"], "a mixed-mode approach"],
    [["Jean-", "Paul came"], "Jean-Paul came"],
    [["COVID-", "19 spread"], "COVID-19 spread"],
    [["pre- and post-", "war"], "pre- and postwar"],
    [["pre-", "and postwar"], "pre- and postwar"],
    [["this –", "as said –"], "this – as said –"],
    [["one", "two"], "one two"],
    [["see `3d-`", "`cube` there"], "see `3d-cube` there"],
    [["https://example.org/", "path"], "https://example.org/path"],
    [["東京都は", "大きい"], "東京都は大きい"],
    [["한국어 문장", "두 번째"], "한국어 문장 두 번째"],
  ])("%j become %j", (lines, text) => {
    expect(joinLines(lines, words)).toBe(text);
  });
});
