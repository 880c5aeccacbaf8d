import { codePoint } from "dingbat-to-unicode";

/* Symbol fonts. The letters of Symbol are Greek, so "5 mm" in it may mean micrometres. Those of Wingdings are pictures. */

/** Characters of Symbol from 0x20 and from 0xA0 on, in Adobe's encoding. */
const SIGNS = [
  " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼",
  "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪\uF8FF〉∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭",
] as const;

/** Programs also store symbols in Unicode's private use area. */
const PRIVATE = 0xf000;

const numberOf = (character: string): number => {
  const code = character.charCodeAt(0);
  return code >= PRIVATE && code <= PRIVATE + 0xff ? code - PRIVATE : code;
};

const greekSign = (character: string): string => {
  const number = numberOf(character);
  return (number < 0xa0 ? SIGNS[0][number - 0x20] : SIGNS[1][number - 0xa0]) ?? character;
};

/** Text in a symbol font as it is displayed; unknown symbols stay unchanged. */
type ShowSigns = (text: string) => string;

const symbolText: ShowSigns = (text) => Array.from(text, greekSign).join("");

const pictureText =
  (font: string): ShowSigns =>
  (text) =>
    Array.from(text, (character) => codePoint(font, numberOf(character))?.string ?? character).join("");

const SIGN_FONT = /^\s*"?(symbol|webdings|wingdings(?: [23])?)"?\s*;?\s*$/i;

/** The mapping of a symbol font, by the font's name; undefined for a text font and for an unknown font. */
export const signsOf = (font: string): ShowSigns | undefined => {
  const name = SIGN_FONT.exec(font)?.[1]?.toLowerCase();
  if (name === undefined) return undefined;
  return name === "symbol" ? symbolText : pictureText(name);
};
