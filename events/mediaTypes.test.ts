import { expect, test } from "vitest";
import { hasPages, hasReader, typeOfExtension, types, usualType } from "./mediaTypes.ts";

test("an ending stands for a type, whatever its case", () => {
  expect(typeOfExtension("Report.PDF")).toBe("application/pdf");
  expect(typeOfExtension("a.b/notes.markdown")).toBe("text/markdown");
  expect(typeOfExtension("macro.xlsm")).toBe(types.xlsx);
});

test("other endings and inherited names stand for nothing", () => {
  for (const name of ["a.exe", "a", "", ".", "a.", "a.constructor", "a.__proto__"])
    expect(typeOfExtension(name)).toBeUndefined();
});

test("a type is known by its usual name", () => {
  expect(usualType("Text/XML; charset=utf-8")).toBe("application/xml");
  expect(usualType("image/png")).toBe("image/png");
  expect(usualType("toString")).toBe("tostring");
});

test("every listed type has a reader, also under its other names, and nothing else has", () => {
  for (const type of Object.values(types)) expect(hasReader(type)).toBe(true);
  expect(hasReader("application/x-rtf")).toBe(true);
  for (const type of ["image/png", "application/octet-stream", "application/zip", ""])
    expect(hasReader(type)).toBe(false);
});

test("only PDF and PowerPoint have pages", () => {
  const paged = Object.values(types).filter(hasPages);
  expect(paged).toEqual([types.pdf, types.pptx]);
});
