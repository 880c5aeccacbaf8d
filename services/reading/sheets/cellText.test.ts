import { strToU8, zipSync } from "fflate";
import { expect, test } from "vitest";
import { cellText } from "./cellText.ts";
import { readOds } from "./readSheets.ts";

const ods = (rows: string): Uint8Array =>
  zipSync({
    mimetype: strToU8("application/vnd.oasis.opendocument.spreadsheet"),
    "META-INF/manifest.xml": strToU8("<manifest/>"),
    "styles.xml": strToU8("<office:document-styles/>"),
    "content.xml": strToU8(
      `<office:document-content><office:body><office:spreadsheet><table:table table:name="S">${rows}</table:table></office:spreadsheet></office:body></office:document-content>`,
    ),
  });

test("numbers of an OpenDocument sheet that have the style of their column keep their unit and their time", async () => {
  const cell = (type: string, value: string, shown: string): string =>
    `<table:table-cell office:value-type="${type}" ${value}><text:p>${shown}</text:p></table:table-cell>`;
  const row = (...cells: string[]): string => `<table:table-row>${cells.join("")}</table:table-row>`;
  const names = ["Share", "Price", "Weight", "From", "Plain"].map((name) => cell("string", "", name));
  const values = [
    cell("percentage", 'office:value="0.25"', "25 %"),
    cell("currency", 'office:value="3.5"', "3,50 €"),
    cell("float", 'office:value="12"', "12 kg"),
    cell("date", 'office:date-value="2026-03-02T14:30:00"', "02.03.26 14:30"),
    cell("float", 'office:value="0.1234567890123"', "0,12"),
  ];
  expect((await readOds(ods(row(...names) + row(...values))))[0]!.split("\n").at(-1)).toBe(
    "| 25 % | 3,50 € | 12 kg | 2026-03-02 14:30 | 0.1234567890123 |",
  );
});

test("numbers whose built-in format the library does not give are read as they are displayed", () => {
  expect(cellText({ t: "n", v: 46_000, w: "12/9/25" }, false)).toBe("2025-12-09");
  expect(cellText({ t: "n", v: 1_234.5, w: "$1,234.50 " }, false)).toBe("$1,234.50");
  expect(cellText({ t: "n", v: 0.604_166_666_7, w: "14:30:00" }, false)).toBe("14:30:00");
  expect(cellText({ t: "n", v: 4_006_381_333_931, w: "4.00638E+12", z: "General" }, false)).toBe("4006381333931");
  expect(cellText({ t: "n", v: -1_234.5, w: "(1,234.50)" }, false)).toBe("-1234.5");
});
