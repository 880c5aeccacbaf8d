import { isDeepStrictEqual } from "node:util";
import { type DocFile, tables, utf16 } from "./docFile.ts";
import { type Counters, countUp, formatLabel, type NumberedLevel } from "./listNumbers.ts";

/* The lists of a Word document ([MS-DOC]): their levels, and overrides, which paragraphs refer to and which may restart numbers. */

const LIST_SIZE = 28;
const OVERRIDE_SIZE = 16;
const LEVEL_OVERRIDE_SIZE = 8;
const LEVEL_SIZE = 28;
/** Names of number formats; others are read as decimals. */
const FORMATS: ReadonlyMap<number, string> = new Map([
  [1, "upperRoman"],
  [2, "lowerRoman"],
  [3, "upperLetter"],
  [4, "lowerLetter"],
  [22, "decimalZero"],
  [23, "bullet"],
  [255, "none"],
]);

/** Flags of a level. */
const [LEGAL, NO_RESTART] = [0x04, 0x08];

/** The text of a level, in which the characters 0 to 8 stand for the numbers of levels. */
const readLevelText = (bytes: Buffer): string =>
  Array.from(utf16.decode(bytes), (sign) => (sign <= "\u0008" ? `%${sign.charCodeAt(0) + 1}` : sign)).join("");

/** Reads a level. Its size is known only after reading it. Undefined if the table ends too early. */
const readLevel = (table: Buffer, from: number): { level: NumberedLevel; end: number } | undefined => {
  if (from + LEVEL_SIZE > table.length) return undefined;
  const formatSize = table.readUInt8(from + 24) + table.readUInt8(from + 25);
  const textAt = from + LEVEL_SIZE + formatSize;
  if (textAt + 2 > table.length) return undefined;
  const end = textAt + 2 + table.readUInt16LE(textAt) * 2;
  const text = readLevelText(table.subarray(textAt + 2, end));
  const format = FORMATS.get(table.readUInt8(from + 4)) ?? "decimal";
  const flags = table.readUInt8(from + 5);
  // only levels above the one that the byte names restart it
  const neverRestarts = (flags & NO_RESTART) !== 0 && table.readUInt8(from + 26) === 0;
  return {
    level: { format, text, start: table.readInt32LE(from), isLegal: (flags & LEGAL) !== 0, neverRestarts },
    end,
  };
};

interface Levels {
  levels: NumberedLevel[];
  end: number;
}

/** Undefined if the table ends too early. */
const readLevels = (table: Buffer, from: number, count: number): Levels | undefined => {
  const levels: NumberedLevel[] = [];
  let at = from;
  while (levels.length < count) {
    const read = readLevel(table, at);
    if (!read) return undefined;
    levels.push(read.level);
    at = read.end;
  }
  return { levels, end: at };
};

/** The levels of lists, by their ids. */
const readLists = (file: Pick<DocFile, "table" | "dataAfter">): Map<number, NumberedLevel[]> => {
  const lists = file.table(tables.lists);
  const found = new Map<number, NumberedLevel[]>();
  if (lists.length < 2) return found;
  // the levels follow the table and are not included in its length
  const levelData = file.dataAfter(tables.lists);
  let at = 0;
  for (let index = 0; index < lists.readUInt16LE(0); index += 1) {
    const list = lists.subarray(2 + index * LIST_SIZE, 2 + (index + 1) * LIST_SIZE);
    const read =
      list.length < LIST_SIZE ? undefined : readLevels(levelData, at, (list.readUInt8(26) & 1) === 1 ? 1 : 9);
    // Some programs write fewer lists than they declare. The other lists then have bullets, and no text is lost.
    if (!read) break;
    found.set(list.readInt32LE(0), read.levels);
    at = read.end;
  }
  return found;
};

/** A list as paragraphs refer to it. */
interface Override {
  list: number;
  /** The first numbers of levels that begin again with it. */
  starts: Map<number, number>;
  /** Levels that it replaces. */
  levels: Map<number, NumberedLevel>;
}

const [STARTS, REPLACES] = [0x10, 0x20];

/** Reads the overrides of levels into an override. Returns where they end; undefined if the table ends too early. */
const readLevelOverrides = (table: Buffer, from: number, count: number, into: Override): number | undefined => {
  let at = from;
  for (let index = 0; index < count; index += 1) {
    if (at + LEVEL_OVERRIDE_SIZE > table.length) return undefined;
    const start = table.readInt32LE(at);
    const flags = table.readUInt8(at + 4);
    const number = flags & 0xf;
    at += LEVEL_OVERRIDE_SIZE;
    const read = (flags & REPLACES) === 0 ? undefined : readLevel(table, at);
    if (read) into.levels.set(number, read.level);
    if ((flags & STARTS) !== 0) into.starts.set(number, read?.level.start ?? start);
    if ((flags & REPLACES) !== 0 && !read) return undefined;
    at = read?.end ?? at;
  }
  return at;
};

/** The overrides in their order; paragraphs count them from 1. */
const readOverrides = (table: Buffer): Override[] => {
  if (table.length < 4) return [];
  const count = Math.min(table.readUInt32LE(0), Math.floor((table.length - 4) / OVERRIDE_SIZE));
  const overrides: Override[] = [];
  // after the overrides, those of their levels follow, each behind a number that is not used
  let at: number | undefined = 4 + count * OVERRIDE_SIZE;
  for (let index = 0; index < count; index += 1) {
    const offset = 4 + index * OVERRIDE_SIZE;
    const override: Override = { list: table.readInt32LE(offset), starts: new Map(), levels: new Map() };
    overrides.push(override);
    if (at !== undefined) at = readLevelOverrides(table, at + 4, table.readUInt8(offset + 12), override);
  }
  return overrides;
};

/** What the paragraphs of a list have counted so far. */
interface ListCount {
  levels: NumberedLevel[];
  counters: Counters;
  paragraphs: number;
}

/**
 * Counts a paragraph of a list and returns its label, `2.1` or `c)`; "" for bullets and unknown lists. `follows`: the paragraph
 * before it is an item, too.
 */
type NextLabel = (override: number, level: number, follows: boolean) => string;

export const readDocLists = (file: Pick<DocFile, "table" | "dataAfter">): NextLabel => {
  const lists = readLists(file);
  const overrides = readOverrides(file.table(tables.listOverrides));
  const countedByList = new Map<number, ListCount>();
  const started = new Set<Override>();
  let last: ListCount | undefined;

  const count = (id: number, levels: NumberedLevel[], follows: boolean): ListCount => {
    const counted = countedByList.get(id) ?? { levels, counters: [], paragraphs: 0 };
    countedByList.set(id, counted);
    // LibreOffice writes the first item of a list that begins again as a list of its own
    const isFirst = follows && last !== counted && last?.paragraphs === 1 && isDeepStrictEqual(last.levels, levels);
    if (last && isFirst) counted.counters = last.counters;
    counted.paragraphs += 1;
    last = counted;
    return counted;
  };

  return (number, level, follows) => {
    const override = overrides[number - 1];
    const own = override && lists.get(override.list);
    if (!override || !own?.[level]) return "";
    const { counters } = count(override.list, own, follows);
    if (!started.has(override)) for (const at of override.starts.keys()) counters[at] = undefined;
    started.add(override);
    const levels = (at: number): NumberedLevel => {
      const described = override.levels.get(at) ?? own[at] ?? { format: "decimal", text: "", start: 1 };
      return { ...described, start: override.starts.get(at) ?? described.start };
    };
    countUp(counters, level, levels);
    return formatLabel(counters, level, levels);
  };
};
