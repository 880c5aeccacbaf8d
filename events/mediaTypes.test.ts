import { expect, test } from "vitest";
import { hasPages, hasReader, typeFromFileName, MEDIA_TYPES, canonicalType } from "./mediaTypes.ts";

test("a file extension determines the media type, in upper or lower case", () => {
  expect(typeFromFileName("Report.PDF")).toBe("application/pdf");
  expect(typeFromFileName("a.b/notes.markdown")).toBe("text/markdown");
  expect(typeFromFileName("macro.xlsm")).toBe(MEDIA_TYPES.xlsx);
});

test("unknown extensions and names of Object.prototype have no media type", () => {
  for (const name of ["a.exe", "a", "", ".", "a.", "a.constructor", "a.__proto__"])
    expect(typeFromFileName(name)).toBeUndefined();
});

test("aliases and parameters of a media type are removed", () => {
  expect(canonicalType("Text/XML; charset=utf-8")).toBe("application/xml");
  expect(canonicalType("image/png")).toBe("image/png");
  expect(canonicalType("toString")).toBe("tostring");
});

test("every listed media type has a reader, also by its aliases, and no other type has one", () => {
  for (const type of Object.values(MEDIA_TYPES)) expect(hasReader(type, true)).toBe(true);
  expect(hasReader("application/x-rtf", false)).toBe(true);
  for (const type of ["image/bmp", "application/octet-stream", "application/zip", ""])
    expect(hasReader(type, true)).toBe(false);
});

test("pictures have a reader only with text recognition", () => {
  const { png, jpg, tiff, webp, gif, heic } = MEDIA_TYPES;
  const pictures = [png, jpg, tiff, webp, gif, heic];
  expect(Object.values(MEDIA_TYPES).filter((type) => !hasReader(type, false))).toEqual(pictures);
  expect(hasReader("image/jpg", true)).toBe(true);
});

test("only PDF and PowerPoint have pages", () => {
  const { pdf, pptx } = MEDIA_TYPES;
  expect(Object.values(MEDIA_TYPES).filter(hasPages)).toEqual([pdf, pptx]);
});
