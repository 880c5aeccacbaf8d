import { decodeBytes } from "./rtfCharset.ts";
import { signsOf } from "./symbolFont.ts";

/* Fields without a result that show a part of their instruction: buttons, and equations of older programs. */

const BUTTON = /^\s*(?:MACROBUTTON|GOTOBUTTON)\s+\S+\s+(.*)$/is;
const EQUATION = /^\s*EQ\s+(.*)$/is;

/** Layout options of an equation: `\* jc2`, `\* "Font:Arial"`. */
const FORMAT = /\\\*\s*(?:"[^"]*"|\S+)/g;
/** An innermost part, `\f(1,2)`, with its options, `\s\up 9(…)`. */
const PART = /((?:\\[a-z]+[\s\d]*)+)\(([^()]*)\)/i;
/** Maximum parts of an equation; a hostile one could nest thousands. */
const MAX_PARTS = 100;
/** Encloses raised text. */
const RAISED = "\u0001";

/** A part as text. An overstrike with raised text is a Chinese word below its reading, which `fieldReading` returns. */
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

/** A word and its raised reading: `\o\ad(\s\up 9(とうきょう),東京)`. */
const READING = /^\s*\\o\s*(?:\\a[a-z]\s*)?\(\s*\\s\s*\\up\s*(?:\d+\s*)?\(([^()]*)\)\s*[,;]/i;

/** A character by its number, which has another meaning in symbol fonts. */
const SYMBOL = /^\s*SYMBOL\s+(\d{2,7})\s(.*)$/is;
const FONT = /\\f\s*(?:"([^"]*)"|([^\s\\]+))/i;

const characterText = (number: number, options: string): string => {
  if (number > 0x10_ff_ff) return "";
  const [, quoted, bare] = FONT.exec(options) ?? [];
  const signs = signsOf(quoted ?? bare ?? "");
  if (signs) return signs(String.fromCodePoint(number));
  return /\\u/i.test(options) ? String.fromCodePoint(number) : decodeBytes(String.fromCharCode(number), "windows-1252");
};

/** Maximum characters of an instruction that are read. People type some dozens, and the patterns take more than linear time. */
const MAX_INSTRUCTION = 2_000;

/** The phonetic reading above the displayed text of a field without a result; "" if there is none. */
export const fieldReading = (instruction: string): string => {
  const equation = EQUATION.exec(instruction.slice(0, MAX_INSTRUCTION))?.[1] ?? "";
  return READING.exec(equation.replace(FORMAT, ""))?.[1]?.trim() ?? "";
};

/** The displayed text of a field without a result; "" if there is none. */
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
