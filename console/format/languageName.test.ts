import { expect, test } from "vitest";
import { languageName } from "./languageName.ts";

test("languages of text recognition have English names, and unknown ones their codes", () => {
  expect(["deu", "eng", "chi_sim", "qqq", "", "x!"].map(languageName)).toEqual([
    "German",
    "English",
    "Chinese sim",
    "qqq",
    "",
    "x!",
  ]);
});
