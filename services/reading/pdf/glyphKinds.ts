import { RIGHT_TO_LEFT } from "./readingDirection.ts";

/** Characters that need more than a position and a width. */
export type GlyphKind = "plain" | "space" | "combining" | "invisible" | "ligature";

const kinds = new Map<string, GlyphKind>();

function classify(unicode: string): GlyphKind {
  if (/^\s/.test(unicode)) return "space";
  if (/^\p{Mn}$/u.test(unicode)) return "combining";
  if (/^\p{Cf}$/u.test(unicode)) return "invisible";
  return unicode.length > 1 && RIGHT_TO_LEFT.test(unicode) ? "ligature" : "plain";
}

/** Maximum distinct glyph texts that are cached; a font of all Chinese characters has fewer. */
const MAX_KINDS = 100_000;

/** Printable ASCII, which most glyphs are. */
const isPlainAscii = (unicode: string): boolean =>
  unicode.length === 1 && unicode.charCodeAt(0) > 0x20 && unicode.charCodeAt(0) < 0x7f;

export function findGlyphKind(unicode: string): GlyphKind {
  if (isPlainAscii(unicode)) return "plain";
  let kind = kinds.get(unicode);
  if (kind === undefined) {
    if (kinds.size >= MAX_KINDS) kinds.clear();
    kinds.set(unicode, (kind = classify(unicode)));
  }
  return kind;
}
