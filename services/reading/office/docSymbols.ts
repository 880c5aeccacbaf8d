import type { Modifiers } from "./docProperties.ts";
import { signsOf } from "./symbolFont.ts";

/* Symbols of fonts in Word documents ([MS-DOC]). The text has a bracket as a placeholder for each. */

const SYMBOL = 0x6a09;
export const SYMBOL_PLACEHOLDER = "(";

/** A symbol in Unicode's private use area has a meaning only in its font. */
const UNKNOWN = /^[\uE000-\uF8FF\p{Cc}\p{Cs}]/u;

/** The symbol that a run shows; "" if it is unknown, undefined if the run shows its text. */
export const findSymbol = (modifiers: Modifiers | undefined, fonts: readonly string[]): string | undefined => {
  const operand = modifiers?.get(SYMBOL);
  if (!operand || operand.length < 4) return undefined;
  const character = String.fromCharCode(operand.readUInt16LE(2));
  const sign = signsOf(fonts[operand.readUInt16LE(0)] ?? "")?.(character) ?? character;
  return UNKNOWN.test(sign) ? "" : sign;
};
