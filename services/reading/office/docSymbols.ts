import type { Modifiers } from "./docProperties.ts";
import { signsOf } from "./symbolFont.ts";

/* Signs of fonts in Word documents ([MS-DOC]): the text has a bracket in their place. */

const SYMBOL = 0x6a09;
export const SYMBOL_PLACE = "(";

/** In Unicode's private part a sign means something only in its font. */
const UNKNOWN = /^[\uE000-\uF8FF\p{Cc}\p{Cs}]/u;

/** The sign that a run shows; "" if nobody can say which, undefined if the run shows its text. */
export const shownSign = (modifiers: Modifiers | undefined, fonts: readonly string[]): string | undefined => {
  const operand = modifiers?.get(SYMBOL);
  if (!operand || operand.length < 4) return undefined;
  const character = String.fromCharCode(operand.readUInt16LE(2));
  const sign = signsOf(fonts[operand.readUInt16LE(0)] ?? "")?.(character) ?? character;
  return UNKNOWN.test(sign) ? "" : sign;
};
