import { expect, test } from "vitest";
import { countCodePoints } from "./countCodePoints.ts";

test("a surrogate pair counts as one character, and so does a lone surrogate", () => {
  for (const text of ["", "abc", "ä😀b", "😀😀", "\ud83d", "\ude00\ud83d", "a\ud83d\ud83d\ude00"])
    expect(countCodePoints(text)).toBe(Array.from(text).length);
});
