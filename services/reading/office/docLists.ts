import { type DocFile, tables } from "./docFile.ts";

const LIST_SIZE = 28;
const OVERRIDE_SIZE = 16;
const LEVEL_SIZE = 28;
/** Number formats of bullets and of unnumbered levels. */
const UNNUMBERED = new Set([23, 255]);

/** The number formats of a list's levels. The size of a level is known only after reading it. Undefined if the table ends too early. */
const readLevels = (table: Buffer, from: number, count: number): { formats: number[]; end: number } | undefined => {
  const formats: number[] = [];
  let at = from;
  for (let level = 0; level < count; level += 1) {
    if (at + LEVEL_SIZE > table.length) return undefined;
    formats.push(table.readUInt8(at + 4));
    const formatSize = table.readUInt8(at + 24) + table.readUInt8(at + 25);
    const text = at + LEVEL_SIZE + formatSize;
    if (text + 2 > table.length) return undefined;
    at = text + 2 + table.readUInt16LE(text) * 2;
  }
  return { formats, end: at };
};

/** Returns whether a level of a list is numbered; a list is identified by the number of its override, from 1. */
export const readDocLists = (file: DocFile): ((override: number, level: number) => boolean) => {
  const [lists, overrides] = [file.table(tables.lists), file.table(tables.listOverrides)];
  if (lists.length < 2 || overrides.length < 4) return () => false;
  // the levels follow the table and are not included in its length
  const levelData = file.dataAfter(tables.lists);
  const formats = new Map<number, number[]>();
  let at = 0;
  for (let index = 0; index < lists.readUInt16LE(0); index += 1) {
    const list = lists.subarray(2 + index * LIST_SIZE, 2 + (index + 1) * LIST_SIZE);
    const levels =
      list.length < LIST_SIZE ? undefined : readLevels(levelData, at, (list.readUInt8(26) & 1) === 1 ? 1 : 9);
    // Some programs write fewer lists than they declare. The other lists then have bullets, and no text is lost.
    if (!levels) break;
    formats.set(list.readInt32LE(0), levels.formats);
    at = levels.end;
  }
  return (override, level) => {
    const offset = 4 + (override - 1) * OVERRIDE_SIZE;
    const format = offset + 4 <= overrides.length ? formats.get(overrides.readInt32LE(offset))?.[level] : undefined;
    return format !== undefined && !UNNUMBERED.has(format);
  };
};
