import { type Element, findAll, findChild, textContent } from "../guard/xml.ts";
import { makeElement } from "./wordXml.ts";

/* Characters of fonts that show signs in place of letters (`w:sym`, and text in such a font). */

/** Fonts whose symbols the converter knows. */
const KNOWN_FONT = /^(?:symbol|webdings|wingdings(?: [23])?)$/i;
/** Word maps the symbols of a font to Unicode's private use area, whose characters have a meaning only in one font. */
const SIGN = /^(?:F0)?[0-9A-F]{2}$/;
const PRIVATE = /^(?:E[0-9A-F]{3}|F[0-8][0-9A-F]{2})$/;
const PRIVATE_CHARACTER = /([\uF020-\uF0FF])/;

const MAX_CHARACTER = 0x10_ff_ff;

const fontOf = (symbol: Element): string => symbol.attributes["w:font"] ?? "";
const numberOf = (symbol: Element): string => (symbol.attributes["w:char"] ?? "").trim().toUpperCase();

const isKnown = (symbol: Element): boolean => KNOWN_FONT.test(fontOf(symbol)) && SIGN.test(numberOf(symbol));

/** The character that a font shows; undefined if the symbol is unknown. */
const characterOf = (symbol: Element): string | undefined => {
  const number = numberOf(symbol);
  if (!/^[0-9A-F]{2,6}$/.test(number) || PRIVATE.test(number) || KNOWN_FONT.test(fontOf(symbol))) return undefined;
  const code = Number.parseInt(number, 16);
  return code < 0x20 || code > MAX_CHARACTER ? undefined : String.fromCodePoint(code);
};

/** A symbol in a form that the converter reads; empty if it is unknown. */
export const rewriteSymbol = (symbol: Element): Element[] => {
  if (isKnown(symbol)) return [makeElement("w:sym", [], { "w:font": fontOf(symbol), "w:char": numberOf(symbol) })];
  const character = characterOf(symbol);
  return character === undefined ? [] : [makeElement("w:t", [character], { "xml:space": "preserve" })];
};

/** The symbols that are left out because they are unknown. */
export const countUnknownSymbols = (body: Element): number =>
  findAll(body, "w:sym").filter((symbol) => !isKnown(symbol) && characterOf(symbol) === undefined).length;

/** A run whose text symbols are marked as symbols, if its font has known ones. */
export const markSymbols = (run: Element): Element => {
  const fonts = findChild(findChild(run, "w:rPr"), "w:rFonts")?.attributes ?? {};
  const font = fonts["w:ascii"] ?? fonts["w:hAnsi"] ?? "";
  if (!KNOWN_FONT.test(font) || !PRIVATE_CHARACTER.test(textContent(run))) return run;
  const children = run.children.flatMap((child): (Element | string)[] => {
    if (typeof child === "string" || child.name !== "w:t") return [child];
    return textContent(child)
      .split(PRIVATE_CHARACTER)
      .filter((part) => part !== "")
      .map((part) =>
        PRIVATE_CHARACTER.test(part)
          ? makeElement("w:sym", [], { "w:font": font, "w:char": part.charCodeAt(0).toString(16).toUpperCase() })
          : makeElement("w:t", [part], { "xml:space": "preserve" }),
      );
  });
  return { ...run, children };
};

/** The number of distinct symbols that the converter reports as unknown. */
export const countIgnoredSymbols = (messages: readonly { message: string }[]): number =>
  messages.filter(({ message }) => message.startsWith("A w:sym element with an unsupported character")).length;
