/** Characters of scripts that are written from right to left. */
export const RIGHT_TO_LEFT = /[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFC]/;

const ARABIC_DIGIT = /[\u0660-\u0669\u06F0-\u06F9]/;
const DIGIT = /[0-9\u0660-\u0669\u06F0-\u06F9]/;
type Direction = "right" | "left" | "number" | "none";

const directionOf = (sign: string): Direction => {
  if (DIGIT.test(sign)) return "number";
  if (RIGHT_TO_LEFT.test(sign)) return "left";
  return /\p{L}/u.test(sign) ? "right" : "none";
};

/** Whether most letters are of a script that is written from right to left. */
export function isRightToLeft(texts: readonly string[]): boolean {
  if (!texts.some((text) => RIGHT_TO_LEFT.test(text))) return false;
  let balance = 0;
  for (const text of texts)
    for (const sign of text) {
      const direction = directionOf(sign);
      if (direction === "left") balance++;
      else if (direction === "right") balance--;
    }
  return balance > 0;
}

/** Reverses the parts that `isPart` begins and goes on with, without the signs at their ends that it only goes on with. */
function reverseParts(signs: string[], opens: (sign: string) => boolean, goesOn: (sign: string) => boolean): string[] {
  const out = [...signs];
  for (let start = 0; start < out.length; start++) {
    if (!opens(out[start]!)) continue;
    let end = start;
    for (let at = start; at < out.length && goesOn(out[at]!); at++) if (opens(out[at]!)) end = at;
    out.splice(start, end + 1 - start, ...out.slice(start, end + 1).toReversed());
    start = end;
  }
  return out;
}

/** A number with its signs, from right to left. */
const TURNED_NUMBER =
  /[%$€£]?[0-9\u0660-\u0669\u06F0-\u06F9](?:[0-9\u0660-\u0669\u06F0-\u06F9.,:/-]*[0-9\u0660-\u0669\u06F0-\u06F9])?[%$€£+-]?/g;

/** Numbers are written from left to right within any script. */
const restoreNumbers = (text: string): string =>
  text.replace(TURNED_NUMBER, (number) => [...number].toReversed().join(""));

/** The parts of a line of a right-to-left script that are of another: letters with what is between them, and numbers. */
function restoreForeign(signs: string[]): string[] {
  const isForeign = (sign: string): boolean => directionOf(sign) === "right";
  const opens = (sign: string): boolean => isForeign(sign) || (DIGIT.test(sign) && !ARABIC_DIGIT.test(sign));
  const out: string[] = [];
  for (let at = 0; at < signs.length; ) {
    let end = at;
    while (end < signs.length && directionOf(signs[end]!) !== "left") end++;
    const part = signs.slice(at, end);
    out.push(part.some(isForeign) ? reverseParts(part, opens, () => true).join("") : restoreNumbers(part.join("")));
    if (end < signs.length) out.push(signs[end]!);
    at = end + 1;
  }
  return out;
}

/**
 * The text of signs that were drawn from left to right, in the order in which it is read. A glyph of several letters, such as
 * lam-alef, has to give them from left to right as well.
 */
export function inReadingOrder(drawn: string): string {
  if (!RIGHT_TO_LEFT.test(drawn)) return drawn;
  const signs = [...drawn];
  if (isRightToLeft([drawn])) return restoreForeign(signs.toReversed()).join("");
  const turned = reverseParts(
    signs,
    (sign) => directionOf(sign) === "left",
    (sign) => directionOf(sign) !== "right",
  );
  return turned.join("");
}
