/** Characters of right-to-left scripts. */
export const RIGHT_TO_LEFT = /[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFC]/;

const ARABIC_DIGIT = /[\u0660-\u0669\u06F0-\u06F9]/;
const DIGIT = /[0-9\u0660-\u0669\u06F0-\u06F9]/;
type Direction = "right" | "left" | "number" | "none";

const directionOf = (sign: string): Direction => {
  if (DIGIT.test(sign)) return "number";
  if (RIGHT_TO_LEFT.test(sign)) return "left";
  return /\p{L}/u.test(sign) ? "right" : "none";
};

/** Minimum share of them per other letter in a right-to-left line. A line with equal numbers is ambiguous. */
const MIN_SHARE = 1.25;

/** If a line has such letters at both ends, a quotation between them may have at most this many other letters for each. */
const MAX_QUOTED = 2;

/**
 * Whether a line is written from right to left: most of its letters, or those at both ends, are of a right-to-left script. The texts
 * are in drawing order, from left to right.
 */
export function isRightToLeft(texts: readonly string[]): boolean {
  if (!texts.some((text) => RIGHT_TO_LEFT.test(text))) return false;
  let [left, right] = [0, 0];
  let first: Direction | undefined;
  let last: Direction | undefined;
  for (const text of texts)
    for (const sign of text) {
      const direction = directionOf(sign);
      if (direction === "left") left++;
      else if (direction === "right") right++;
      else continue;
      first ??= direction;
      last = direction;
    }
  const isEnclosed = first === "left" && last === "left";
  return left > right * MIN_SHARE || (isEnclosed && right > 0 && left * MAX_QUOTED > right);
}

/** A number with its signs, from right to left. */
const TURNED_NUMBER =
  /[%$€£]?[0-9\u0660-\u0669\u06F0-\u06F9](?:[0-9\u0660-\u0669\u06F0-\u06F9.,:/-]*[0-9\u0660-\u0669\u06F0-\u06F9])?[%$€£+-]?/g;

/** Numbers are written from left to right within any script. */
const restoreNumbers = (text: string): string =>
  text.replace(TURNED_NUMBER, (number) => Array.from(number).toReversed().join(""));

interface Parts {
  opens(sign: string): boolean;
  goesOn(sign: string): boolean;
  turn(part: string[]): string;
}

/** Reverses the parts that `opens` begins and `goesOn` continues, without trailing signs that only continue. */
function turnParts(signs: readonly string[], { opens, goesOn, turn }: Parts): string {
  let text = "";
  for (let start = 0; start < signs.length; ) {
    if (!opens(signs[start]!)) {
      text += signs[start++]!;
      continue;
    }
    let end = start;
    for (let at = start; at < signs.length && goesOn(signs[at]!); at++) if (opens(signs[at]!)) end = at;
    text += turn(signs.slice(start, end + 1));
    start = end + 1;
  }
  return text;
}

const reverse = (part: string[]): string => part.toReversed().join("");

/** The left-to-right parts of a right-to-left line: letters with what is between them, and numbers. */
function restoreForeign(signs: readonly string[]): string {
  const isForeign = (sign: string): boolean => directionOf(sign) === "right";
  const opens = (sign: string): boolean => isForeign(sign) || (DIGIT.test(sign) && !ARABIC_DIGIT.test(sign));
  let text = "";
  for (let at = 0; at < signs.length; ) {
    let end = at;
    while (end < signs.length && directionOf(signs[end]!) !== "left") end++;
    const part = signs.slice(at, end);
    text += part.some(isForeign)
      ? turnParts(part, { opens, goesOn: () => true, turn: reverse })
      : restoreNumbers(part.join(""));
    text += signs[end] ?? "";
    at = end + 1;
  }
  return text;
}

/**
 * The text of characters drawn from left to right, in reading order. A glyph of several letters, such as lam-alef, must list them
 * from left to right as well.
 */
export function inReadingOrder(drawn: string): string {
  if (!RIGHT_TO_LEFT.test(drawn)) return drawn;
  const signs = Array.from(drawn);
  if (isRightToLeft([drawn])) return restoreForeign(signs.toReversed());
  return turnParts(signs, {
    opens: (sign) => directionOf(sign) === "left",
    goesOn: (sign) => directionOf(sign) !== "right",
    turn: (part) => restoreNumbers(reverse(part)),
  });
}
