import { decodeBytes } from "./rtfCharset.ts";
import { signsOf } from "./symbolFont.ts";

/* Fields that show a part of their instruction, and have no result: buttons, and equations of older programs. */

const BUTTON = /^\s*(?:MACROBUTTON|GOTOBUTTON)\s+\S+\s+(.*)$/is;
const EQUATION = /^\s*EQ\s+(.*)$/is;

/** How an equation is set: `\* jc2`, `\* "Font:Arial"`. */
const FORMAT = /\\\*\s*(?:"[^"]*"|\S+)/g;
/** A part without parts of its own, `\f(1,2)`, with its options, `\s\up 9(…)`. */
const PART = /((?:\\[a-z]+[\s\d]*)+)\(([^()]*)\)/i;
/** Parts of an equation; a hostile one could have thousands in each other. */
const MAX_PARTS = 100;
/** Encloses what stands above the line. */
const RAISED = "\u0001";

/** A part as text. Overstrikes with something raised are readings of Chinese characters, which are left out as in other formats. */
const partText = (options: string, content: string): string => {
  const [name = ""] = /[a-z]+/i.exec(options) ?? [];
  const pieces = content.split(/[,;]/).map((piece) => piece.trim());
  switch (name.toLowerCase()) {
    case "f":
      return pieces.join("/");
    case "r":
      return pieces.length > 1 ? `${pieces[0]}√${pieces[1]}` : `√${pieces[0]}`;
    case "s":
      return /\\up/i.test(options) ? `${RAISED}${content}${RAISED}` : content;
    case "o":
      return pieces.filter((piece) => !piece.startsWith(RAISED)).join("");
    default:
      return pieces.join(", ");
  }
};

const equationText = (equation: string): string => {
  let text = equation.replace(FORMAT, "");
  for (let n = 0; n < MAX_PARTS && PART.test(text); n++)
    text = text.replace(PART, (_, options: string, content: string) => partText(options, content));
  return text.replaceAll(RAISED, "").trim();
};

/** A character by its number; fonts of symbols give the number another meaning. */
const SYMBOL = /^\s*SYMBOL\s+(\d{2,7})\s(.*)$/is;
const FONT = /\\f\s*(?:"([^"]*)"|([^\s\\]+))/i;

const characterText = (number: number, options: string): string => {
  if (number > 0x10_ff_ff) return "";
  const [, quoted, bare] = FONT.exec(options) ?? [];
  const signs = signsOf(quoted ?? bare ?? "");
  if (signs) return signs(String.fromCodePoint(number));
  return /\\u/i.test(options) ? String.fromCodePoint(number) : decodeBytes(String.fromCharCode(number), "windows-1252");
};

/** Characters of an instruction that are read. People type some dozens, and the time of the patterns grows faster than the text. */
const MAX_INSTRUCTION = 2_000;

/** What a field without a result shows of its instruction; "" if nothing. */
export const fieldLabel = (whole: string): string => {
  const instruction = whole.slice(0, MAX_INSTRUCTION);
  const equation = EQUATION.exec(instruction)?.[1];
  if (equation !== undefined) return equationText(equation);
  const symbol = SYMBOL.exec(instruction);
  if (symbol) return characterText(Number(symbol[1]), symbol[2] ?? "");
  return (
    BUTTON.exec(instruction)?.[1]
      ?.replace(/^"(.*)"\s*$/s, "$1")
      .trim() ?? ""
  );
};
