import type { Modifiers } from "./docProperties.ts";
import { isSymbolFont, symbolText } from "./symbolFont.ts";

/* Signs of fonts in Word documents ([MS-DOC]): the text has a bracket in their place. */

const SYMBOL = 0x6a09;
/** Bytes of a font before its name. */
const FONT_HEADER = 40;
export const SYMBOL_PLACE = "(";

/** In Unicode's private part a sign means something only in its font. */
const UNKNOWN = /[\uE000-\uF8FF\p{Cc}\p{Cs}]/u;

/** The names of the fonts in a table of them. */
export const readFontNames = (table: Buffer): string[] => {
  const names: string[] = [];
  const count = table.length < 4 ? 0 : table.readUInt16LE(0);
  for (let at = 4; at < table.length && names.length < count; at += table.readUInt8(at) + 1) {
    const font = table.subarray(at, at + table.readUInt8(at) + 1).subarray(FONT_HEADER);
    const units = Array.from({ length: font.length >> 1 }, (_, index) => font.readUInt16LE(index * 2));
    const end = units.indexOf(0);
    names.push(String.fromCharCode(...units.slice(0, end < 0 ? undefined : end)));
  }
  return names;
};

/** The sign that a run shows; "" if nobody can say which, undefined if the run shows its text. */
export const shownSign = (modifiers: Modifiers | undefined, fonts: readonly string[]): string | undefined => {
  const operand = modifiers?.get(SYMBOL);
  if (!operand || operand.length < 4) return undefined;
  const character = String.fromCharCode(operand.readUInt16LE(2));
  if (isSymbolFont(fonts[operand.readUInt16LE(0)] ?? "")) return symbolText(character);
  return UNKNOWN.test(character) ? "" : character;
};
