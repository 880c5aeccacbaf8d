/* The font Symbol, whose letters are Greek: "5 mm" in it may mean micrometres. */

/** Its signs from 0x20 and from 0xA0 on, in the encoding of its maker. */
const SIGNS = [
  " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼",
  "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪\uF8FF〉∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭",
] as const;

/** Programs store its signs also in Unicode's private part. */
const PRIVATE = 0xf000;

const signOf = (character: string): string => {
  const code = character.charCodeAt(0);
  const number = code >= PRIVATE && code <= PRIVATE + 0xff ? code - PRIVATE : code;
  return (number < 0xa0 ? SIGNS[0][number - 0x20] : SIGNS[1][number - 0xa0]) ?? character;
};

export const isSymbolFont = (name: string): boolean => /^\s*"?symbol"?\s*;?\s*$/i.test(name);

/** Text in the font Symbol as people see it. */
export const symbolText = (text: string): string => Array.from(text, signOf).join("");
