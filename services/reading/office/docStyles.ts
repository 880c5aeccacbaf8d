import { type DocFile, tables, wide } from "./docFile.ts";
import { type Changes, readChanges } from "./docProperties.ts";

export interface DocStyle {
  /** In English where it is one of Word's own, whatever language Word spoke. */
  name: string;
  base: number;
  changes: Changes;
}

const NONE = 0xfff;

const builtIn = (id: number): string | undefined => {
  if (id >= 1 && id <= 9) return `heading ${id}`;
  if (id >= 19 && id <= 27) return `toc ${id - 18}`;
  return id === 62 ? "Title" : undefined;
};

const readStyle = (bytes: Buffer, fixed: number): DocStyle => {
  const id = bytes.readUInt16LE(0) & 0xfff;
  const kind = bytes.readUInt16LE(2) & 0xf;
  const length = bytes.readUInt16LE(fixed);
  const end = fixed + 2 + length * 2;
  const name = wide.decode(bytes.subarray(fixed + 2, end));
  // Behind the name and its NUL; what a paragraph's style says begins with its own number.
  const at = end + 2 + (end % 2);
  const size = kind === 1 && at + 2 <= bytes.length ? bytes.readUInt16LE(at) : 0;
  const changes = readChanges(bytes.subarray(at + 4, at + 2 + size));
  return { name: builtIn(id) ?? name, base: bytes.readUInt16LE(2) >> 4, changes };
};

/** The styles by their number; a place may be empty. */
export const readDocStyles = (file: DocFile): (DocStyle | undefined)[] => {
  const table = file.table(tables.styles);
  if (table.length < 6) return [];
  const count = table.readUInt16LE(2);
  const fixed = table.readUInt16LE(4);
  let at = 2 + table.readUInt16LE(0);
  return Array.from({ length: count }, () => {
    if (at + 2 > table.length) return undefined;
    const size = table.readUInt16LE(at);
    const bytes = table.subarray(at + 2, at + 2 + size);
    at += 2 + size;
    return size > fixed + 2 ? readStyle(bytes, fixed) : undefined;
  });
};

/** Word allows eleven. */
const MAX_CHAIN = 20;

/** A style and those it stands on, itself first; a circle ends it. */
export const styleChain = (styles: (DocStyle | undefined)[], number: number): DocStyle[] => {
  const chain: DocStyle[] = [];
  for (
    let style = styles[number];
    style && chain.length < MAX_CHAIN && !chain.includes(style);
    style = style.base === NONE ? undefined : styles[style.base]
  ) {
    chain.push(style);
  }
  return chain;
};
