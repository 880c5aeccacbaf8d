import type { PdfPage } from "./openPdf.ts";

/** A character to show. Numbers between them move the next one, in thousandths of the font size. */
export interface Glyph {
  unicode: string;
  width: number;
  originalCharCode: number;
}

/** A text of a page, or the beginning or end of marked content, as pdf.js describes them. */
export interface TextItem {
  str?: string;
  width?: number;
  height?: number;
  transform?: number[];
  fontName?: string;
  type?: string;
  /** For marked content, its id. */
  id?: string | null;
  tag?: string | null;
  hasEOL?: boolean;
}

/** Maximum text items of a page; a telephone book's page has fewer. */
export const MAX_ITEMS = 60_000;

/** The text of a page. `isCut`: it has more than the limit. `hasHidden`: it has text in layers that are switched off, which is left out. */
export interface TextItems {
  items: TextItem[];
  isCut: boolean;
  hasHidden: boolean;
}

/** The text of a page as pdf.js joins it. pdf.js supports vertical writing and drawn fonts, but takes three times as long. */
export async function itemsByPdfJs(page: PdfPage): Promise<TextItems> {
  const reader = page.streamTextContent({ includeMarkedContent: true, disableNormalization: true }).getReader();
  const items: TextItem[] = [];
  try {
    while (items.length < MAX_ITEMS) {
      const { done, value } = (await reader.read()) as { done: boolean; value?: { items: TextItem[] } };
      if (done || value === undefined) return { items, isCut: false, hasHidden: false };
      items.push(...value.items);
    }
    return { items, isCut: true, hasHidden: false };
  } finally {
    await reader.cancel(new Error("The limit of text items is reached."));
  }
}
