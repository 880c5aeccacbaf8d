import { type DocFile, tables, utf16 } from "./docFile.ts";
import { type Modifiers, readModifiers } from "./docProperties.ts";

export interface DocStyle {
  /** The English name if the style is built in, whatever Word's language. */
  name: string;
  base: number;
  modifiers: Modifiers;
}

const NO_BASE = 0xfff;

const builtInName = (id: number): string | undefined => {
  if (id >= 1 && id <= 9) return `heading ${id}`;
  if (id >= 19 && id <= 27) return `toc ${id - 18}`;
  return id === 62 ? "Title" : undefined;
};

const readStyle = (bytes: Buffer, fixed: number): DocStyle => {
  const id = bytes.readUInt16LE(0) & 0xfff;
  const kind = bytes.readUInt16LE(2) & 0xf;
  const length = bytes.readUInt16LE(fixed);
  const end = fixed + 2 + length * 2;
  const name = utf16.decode(bytes.subarray(fixed + 2, end));
  // after the name and its NUL; the properties of a paragraph style start with its number
  const at = end + 2 + (end % 2);
  const size = kind === 1 && at + 2 <= bytes.length ? bytes.readUInt16LE(at) : 0;
  const modifiers = readModifiers(bytes.subarray(at + 4, at + 2 + size));
  return { name: builtInName(id) ?? name, base: bytes.readUInt16LE(2) >> 4, modifiers };
};

/** The styles by their number; numbers may be unused. */
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

/** Word allows eleven styles in a chain. */
const MAX_CHAIN = 20;

/** A style and those it is based on, itself first; a cycle ends the chain. */
export const styleChain = (styles: (DocStyle | undefined)[], number: number): DocStyle[] => {
  const chain: DocStyle[] = [];
  for (
    let style = styles[number];
    style && chain.length < MAX_CHAIN && !chain.includes(style);
    style = style.base === NO_BASE ? undefined : styles[style.base]
  ) {
    chain.push(style);
  }
  return chain;
};
