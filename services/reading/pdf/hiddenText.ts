import { IDENTITY } from "./textState.ts";
import { findGlyphKind } from "./glyphKinds.ts";
import type { Layers } from "./layers.ts";
import type { PdfPage } from "./openPdf.ts";
import { OPS, visitOperators } from "./operators.ts";
import type { Glyph, TextItem, TextItems } from "./textItems.ts";

/* pdf.js reads the text of all layers, including hidden ones, and does not report the layer of a text. */

/** The characters of a page in drawing order, without spaces. */
interface DrawnText {
  text: string;
  /** For each UTF-16 unit, whether it is in a layer that is switched off. */
  hidden: boolean[];
}

async function readDrawn(page: PdfPage, layers: Layers): Promise<DrawnText> {
  const parts: string[] = [];
  const hidden: boolean[] = [];
  // pdf.js does not include annotations in the text
  let annotations = 0;
  await visitOperators(page, { matrix: IDENTITY, layers }, (operator, [glyphs], _, isHidden) => {
    if (operator === OPS.beginAnnotation) annotations++;
    else if (operator === OPS.endAnnotation) annotations--;
    if (operator !== OPS.showText || annotations > 0 || !Array.isArray(glyphs)) return true;
    for (const glyph of glyphs as (Glyph | number)[]) {
      if (typeof glyph === "number" || findGlyphKind(glyph.unicode) === "space") continue;
      const text = glyph.unicode.replace(/\s/g, "");
      parts.push(text);
      for (let unit = 0; unit < text.length; unit++) hidden.push(isHidden);
    }
    return true;
  });
  return { text: parts.join(""), hidden };
}

/** Maximum characters that pdf.js may skip between two of its texts, because they are outside of the page or invisible. */
const MAX_SKIPPED = 5_000;

/** The position of a pdf.js text among the drawn ones, from a position on; -1 if it is not found. pdf.js reverses Arabic and Hebrew. */
function findFrom(drawn: string, text: string, from: number): number {
  const turned = Array.from(text).toReversed().join("");
  if (drawn.startsWith(text, from) || drawn.startsWith(turned, from)) return from;
  const near = drawn.slice(from, from + text.length + MAX_SKIPPED);
  const places = [near.indexOf(text), near.indexOf(turned)].filter((at) => at >= 0);
  return places.length === 0 ? -1 : from + Math.min(...places);
}

/** The items without those in layers that are switched off. pdf.js starts a new text where a layer begins or ends. */
export async function dropHiddenText(page: PdfPage, found: TextItems, layers: Layers): Promise<TextItems> {
  if (!layers.exist) return found;
  const { text, hidden } = await readDrawn(page, layers);
  if (!hidden.includes(true)) return found;
  let next = 0;
  const isShown = ({ str = "" }: TextItem): boolean => {
    const letters = str.replace(/\s/g, "");
    const at = letters === "" ? -1 : findFrom(text, letters, next);
    if (at < 0) return true;
    next = at + letters.length;
    return hidden[at] !== true;
  };
  return { ...found, items: found.items.filter(isShown), hasHidden: true };
}
