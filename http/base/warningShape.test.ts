import { expect, test } from "vitest";
import type { WarningCode } from "#events/readingWarnings.ts";
import { presentWarnings, Warnings } from "./warningShape.ts";

test("warnings name their pages or the number of parts that were left out", () => {
  expect(
    presentWarnings([
      { code: "page_without_text", pages: [2, 3, 4, 9] },
      { code: "page_damaged", pages: [7] },
      { code: "comments_left_out", count: 1 },
      { code: "images_without_text", count: 1_200 },
      { code: "symbols_instead_of_words", count: 2 },
      { code: "read_from_picture", pages: [2, 3, 5], confidence: [96, 91, 94] },
      { code: "uncertain_text", pages: [4], confidence: [42] },
      { code: "recognition_limit_reached", pages: [6] },
    ]).warnings?.map(({ message }) => message),
  ).toEqual([
    "Pages 2-4, 9 have no text that could be read, as blank and scanned pages do.",
    "Page 7 is damaged and could not be read.",
    "1 comment was left out.",
    "1,200 images were left out.",
    "2 symbols of unknown fonts were left out.",
    "Pages 2-3, 5 have text that was read from pictures, 91-96 % sure.",
    "Page 4 has text that was read from a picture, only 42 % sure: compare the text with the file.",
    "Page 6 was not read, because the pages of text recognition for one file, or of the organization for today, are used up.",
  ]);
});

test("the field is absent if there are no warnings", () => {
  expect(presentWarnings([])).toEqual({});
});

test.each(["of_a_newer_release", "constructor"])(
  "the code %s, which this release does not know, is returned with a general sentence",
  (unknown) => {
    const code = unknown as WarningCode;
    const { warnings } = presentWarnings([
      { code, pages: [2, 3] },
      { code, count: 4 },
    ]);
    expect(Warnings.parse(warnings)).toEqual([
      { code, pages: [2, 3], message: "Pages 2-3 have something that the text may lack." },
      { code, count: 4, message: "4 parts were left out." },
    ]);
  },
);
