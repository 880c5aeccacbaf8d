import { type DocFile, tables } from "./docFile.ts";

const LIST_SIZE = 28;
const USE_SIZE = 16;
const LEVEL_SIZE = 28;
const UNNUMBERED = new Set([23, 255]);

/** The number formats of a list's levels; how long a level is follows only from reading it. */
const readLevels = (table: Buffer, from: number, count: number): { formats: number[]; end: number } => {
  const formats: number[] = [];
  let at = from;
  for (let level = 0; level < count; level += 1) {
    formats.push(table.readUInt8(at + 4));
    const looks = table.readUInt8(at + 24) + table.readUInt8(at + 25);
    const text = at + LEVEL_SIZE + looks;
    at = text + 2 + table.readUInt16LE(text) * 2;
  }
  return { formats, end: at };
};

/** Whether an item of a list, by the number of its use, and a level is numbered. */
export const readDocLists = (file: DocFile): ((use: number, level: number) => boolean) => {
  const [lists, uses] = [file.table(tables.lists), file.table(tables.listUses)];
  if (lists.length < 2 || uses.length < 4) return () => false;
  // The levels lie behind the table, and are not counted in its length.
  const behind = file.behind(tables.lists);
  const formats = new Map<number, number[]>();
  let at = 0;
  for (let index = 0; index < lists.readUInt16LE(0); index += 1) {
    const list = lists.subarray(2 + index * LIST_SIZE, 2 + (index + 1) * LIST_SIZE);
    const levels = readLevels(behind, at, (list.readUInt8(26) & 1) === 1 ? 1 : 9);
    formats.set(list.readInt32LE(0), levels.formats);
    at = levels.end;
  }
  return (use, level) => {
    const place = 4 + (use - 1) * USE_SIZE;
    const format = place + 4 <= uses.length ? formats.get(uses.readInt32LE(place))?.[level] : undefined;
    return format !== undefined && !UNNUMBERED.has(format);
  };
};
