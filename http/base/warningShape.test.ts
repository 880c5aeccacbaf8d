import { expect, test } from "vitest";
import { presentWarnings } from "./warningShape.ts";

test("warnings say for people which pages they concern, or how many parts were left out", () => {
  expect(
    presentWarnings([
      { code: "page_without_text", pages: [2, 3, 4, 9] },
      { code: "page_damaged", pages: [7] },
      { code: "comments_left_out", count: 1 },
      { code: "images_without_text", count: 1_200 },
    ]).warnings?.map(({ message }) => message),
  ).toEqual([
    "Pages 2-4, 9 have no text that could be read, as blank and scanned pages do.",
    "Page 7 is damaged and could not be read.",
    "1 comment was left out.",
    "1,200 images were left out.",
  ]);
});

test("there is no field without warnings", () => {
  expect(presentWarnings([])).toEqual({});
});
