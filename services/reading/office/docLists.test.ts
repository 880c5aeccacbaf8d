import { expect, test } from "vitest";
import { textContent } from "../html/tree.ts";
import { type DocFile, tables } from "./docFile.ts";
import { readDocLists } from "./docLists.ts";
import { readDocBlocks } from "./docText.ts";

const numbers = (...values: [size: 1 | 2 | 4, value: number][]): Buffer =>
  Buffer.concat(
    values.map(([size, value]) => {
      const bytes = Buffer.alloc(size);
      bytes.writeUIntLE(value, 0, size);
      return bytes;
    }),
  );

const [DECIMAL, UPPER_ROMAN, LOWER_ROMAN, UPPER_LETTER, LOWER_LETTER, BULLET] = [0, 1, 2, 3, 4, 23];

const level = (format: number, text: string, flags = 0): Buffer => {
  const fixed = Buffer.alloc(28);
  fixed.writeInt32LE(1, 0);
  fixed.writeUInt8(format, 4);
  fixed.writeUInt8(flags, 5);
  // properties of its text precede it
  fixed.writeUInt8(3, 24);
  return Buffer.concat([fixed, Buffer.alloc(3), numbers([2, text.length]), Buffer.from(text, "utf16le")]);
};

const list = (id: number, isSimple: boolean): Buffer => {
  const fixed = Buffer.alloc(28);
  fixed.writeInt32LE(id, 0);
  fixed.writeUInt8(isSimple ? 1 : 0, 26);
  return fixed;
};

const override = (id: number, levels = 0): Buffer => {
  const fixed = Buffer.alloc(16);
  fixed.writeInt32LE(id, 0);
  fixed.writeUInt8(levels, 12);
  return fixed;
};

const NUMBER_OF_LIST: [4, number] = [4, 0xffff_ffff];

/** The tables of lists and of their overrides, and the levels, which follow the former. */
const listTables = (lists: Buffer, overrides: Buffer, levels: Buffer[]): Pick<DocFile, "table" | "dataAfter"> => ({
  table: (number) => {
    if (number === tables.lists) return lists;
    return number === tables.listOverrides ? overrides : Buffer.alloc(0);
  },
  dataAfter: () => Buffer.concat(levels),
});

/**
 * A document with a list of letters (1), which another one restarts at 5 (2) and which clauses continue (3), bullets (4), and a list
 * like the first one (5).
 */
const letteredLists = (): Pick<DocFile, "table" | "dataAfter"> => {
  const clauses = level(LOWER_ROMAN, "\u0000.\u0001");
  const levels = [level(LOWER_LETTER, "(\u0000)"), clauses, ...Array.from({ length: 7 }, () => level(DECIMAL, ""))];
  const overrides = Buffer.concat([
    numbers([4, 5]),
    override(7),
    override(7, 1),
    override(7, 1),
    override(8),
    override(9),
    numbers(NUMBER_OF_LIST),
    numbers(NUMBER_OF_LIST, [4, 5], [4, 0x10]),
    numbers(NUMBER_OF_LIST, [4, 0], [4, 0x20]),
    level(DECIMAL, "Article \u0000"),
    numbers(NUMBER_OF_LIST, NUMBER_OF_LIST),
  ]);
  const lists = Buffer.concat([numbers([2, 3]), list(7, false), list(8, true), list(9, false)]);
  return listTables(lists, overrides, [...levels, level(BULLET, "\uf0b7"), ...levels]);
};

const openLists = () => {
  const next = readDocLists(letteredLists());
  return (number: number, at: number, follows = true) => next(number, at, follows);
};

test("items are counted by level, and have the labels that people see", () => {
  const next = openLists();
  const items = [0, 0, 1, 1, 0, 1].map((at) => next(1, at));
  expect(items).toEqual(["(a)", "(b)", "b.i", "b.ii", "(c)", "c.i"]);
});

test("a list may restart the numbers of another, continue them, and number a level in its own way", () => {
  const next = openLists();
  expect([next(1, 0), next(2, 0), next(2, 0), next(3, 0), next(1, 0)]).toEqual([
    "(a)",
    "(e)",
    "(f)",
    "Article 7",
    "(h)",
  ]);
});

test("a list that restarts a level may begin below it", () => {
  const next = openLists();
  expect([next(1, 0), next(2, 1), next(2, 1), next(2, 0)]).toEqual(["(a)", "e.i", "e.ii", "(f)"]);
});

test("numbers of a legal level are decimal, and those of a level that never restarts continue", () => {
  const articles = level(UPPER_ROMAN, "Article \u0000");
  const levels = [articles, level(DECIMAL, "\u0000.\u0001", 0x04 | 0x08)];
  const others = Array.from({ length: 7 }, () => level(DECIMAL, ""));
  const overrides = Buffer.concat([numbers([4, 1]), override(7), numbers(NUMBER_OF_LIST)]);
  const next = readDocLists(
    listTables(Buffer.concat([numbers([2, 1]), list(7, false)]), overrides, [...levels, ...others]),
  );
  expect([0, 1, 0, 1].map((at) => next(1, at, true))).toEqual(["Article I", "1.1", "Article II", "2.2"]);
});

test("the first item of a list that begins again may be a list of its own, as LibreOffice writes it", () => {
  const next = openLists();
  expect([next(5, 0, false), next(1, 0), next(4, 0), next(1, 0)]).toEqual(["(a)", "(b)", "", "(c)"]);
  const other = openLists();
  expect([other(5, 0, false), other(1, 0, false), other(1, 0), other(5, 0)]).toEqual(["(a)", "(a)", "(b)", "(b)"]);
});

test("bullets, levels that a list does not have and unknown lists have no label", () => {
  const next = openLists();
  expect([next(4, 0), next(4, 1), next(9, 0), next(1, 12)]).toEqual(["", "", "", ""]);
});

/** A page of formats of two cells, each with an item of one of the lists. */
const cellFormats = (listNumbers: [number, number]): Buffer => {
  const page = Buffer.alloc(512);
  for (const [index, place] of [0, 5, 9].entries()) page.writeUInt32LE(place, index * 4);
  for (const [index, number] of listNumbers.entries()) {
    page[12 + index * 13] = 100 + index * 20;
    page.set([5, 0, 0, 0x16, 0x24, 1, 0x0b, 0x46, number, 0], 200 + index * 40);
  }
  page[511] = 2;
  return page;
};

const readCells = (lists: Pick<DocFile, "table" | "dataAfter">, listNumbers: [number, number]): string => {
  const text = "rent\u0007gas\u0007";
  const formats = Buffer.alloc(12);
  formats.writeUInt32LE(9, 4);
  const children = readDocBlocks({
    main: cellFormats(listNumbers),
    text,
    locate: (character) => ({ offset: character, width: 1, following: text.length - character }),
    table: (number) => (number === tables.paragraphFormats ? formats : lists.table(number)),
    fonts: [],
    dataAfter: (number) => lists.dataAfter(number),
    lengths: { body: text.length, footnotes: 0, headers: 0, comments: 0, endnotes: 0, boxes: 0 },
  });
  return textContent({ type: "root", children });
};

test("lists in neighbouring cells are counted apart", () => {
  expect(readCells(letteredLists(), [1, 5])).toBe("(a) rent(a) gas");
});

test("letters without punctuation are numbers", () => {
  const overrides = Buffer.concat([numbers([4, 1]), override(7), numbers(NUMBER_OF_LIST)]);
  const lists = Buffer.concat([numbers([2, 1]), list(7, true)]);
  expect(readCells(listTables(lists, overrides, [level(UPPER_LETTER, "\u0000")]), [1, 1])).toBe("A rentB gas");
});
