import { type DocFile, placesIn, tables } from "./docFile.ts";

/* What [MS-DOC] says of paragraphs and of signs: runs of the main stream, each with changes to its style. */

/** Changes by their number; of equal ones the last counts. */
export type Changes = Map<number, Buffer>;

export interface Run {
  from: number;
  to: number;
  style: number;
  changes: Changes;
}

const PAGE = 512;
const SIZES = [1, 1, 2, 4, 2, 2, 0, 3];
const TABLE_DEFINITION = 0xd608;

export const readChanges = (bytes: Buffer): Changes => {
  const changes: Changes = new Map();
  for (let at = 0; at + 2 < bytes.length; ) {
    const number = bytes.readUInt16LE(at);
    let start = at + 2;
    let size = SIZES[number >> 13] ?? 1;
    if (number === TABLE_DEFINITION) {
      size = bytes.readUInt16LE(start) - 1;
      start += 2;
    } else if (size === 0) {
      size = bytes.readUInt8(start);
      start += 1;
    }
    changes.set(number, bytes.subarray(start, start + size));
    at = start + Math.max(size, 0);
  }
  return changes;
};

const paragraphEntry = (page: Buffer, at: number): { style: number; changes: Changes } => {
  const words = page.readUInt8(at);
  const start = words === 0 ? at + 2 : at + 1;
  const size = words === 0 ? page.readUInt8(at + 1) * 2 : words * 2 - 1;
  const bytes = page.subarray(start, start + size);
  if (bytes.length < 2) return { style: 0, changes: new Map() };
  return { style: bytes.readUInt16LE(0), changes: readChanges(bytes.subarray(2)) };
};

const lookEntry = (page: Buffer, at: number): { style: number; changes: Changes } => ({
  style: 0,
  changes: readChanges(page.subarray(at + 1, at + 1 + page.readUInt8(at))),
});

const readPage = (page: Buffer, entrySize: 1 | 13): Run[] => {
  const count = page.readUInt8(PAGE - 1);
  return Array.from({ length: count }, (_, index) => {
    const at = page.readUInt8((count + 1) * 4 + index * entrySize) * 2;
    const entry = entrySize === 13 ? paragraphEntry : lookEntry;
    const said = at === 0 ? { style: 0, changes: new Map() } : entry(page, at);
    return { from: page.readUInt32LE(index * 4), to: page.readUInt32LE(index * 4 + 4), ...said };
  });
};

/** Runs of paragraphs, or of looks of signs, by their place in the main stream. */
export const readRuns = (file: DocFile, kind: "paragraphs" | "looks"): Run[] => {
  const table = file.table(tables[kind]);
  const places = placesIn(table, 4);
  const pages = places.slice(0, -1).map((_, index) => table.readUInt32LE(places.length * 4 + index * 4));
  const runs = [...new Set(pages)].flatMap((number) =>
    readPage(file.main.subarray(number * PAGE, (number + 1) * PAGE), kind === "paragraphs" ? 13 : 1),
  );
  return runs.toSorted((one, other) => one.from - other.from);
};

/** The run that holds a place; undefined where none does. */
export const runAt = (runs: Run[], place: number): Run | undefined => {
  let low = 0;
  let high = runs.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((runs[middle]?.from ?? 0) <= place) low = middle;
    else high = middle - 1;
  }
  const run = runs[low];
  return run && place >= run.from && place < run.to ? run : undefined;
};

export const flagOf = (changes: Changes | undefined, number: number): boolean => {
  const value = changes?.get(number);
  return value !== undefined && value.length > 0 && value[0] !== 0;
};

/** A number of one or two bytes. */
export const numberOf = (changes: Changes, number: number): number | undefined => {
  const value = changes.get(number);
  if (!value || value.length === 0) return undefined;
  return value.length === 1 ? value.readUInt8(0) : value.readInt16LE(0);
};
