import type { PdfPage } from "./openPdf.ts";

export interface FontStyle {
  bold: boolean;
  italic: boolean;
  mono: boolean;
  /** Its characters are symbols such as bullets and arrows. */
  symbol: boolean;
}

const BOLD = /bold|black|heavy|demi|[-,.]b$|cmb|cmssb|sfbx|medi(?!um)|(?:tb|zb)$|[-_](?:bd|hv|bk?d)/i;
const MONO =
  /mono|courier|consol|typewriter|cmtt|cmsltt|sftt|fixed|menlo|lettergothic|inconsolata|lucidasanstypewriter|txtt|nimbusmon/i;

const styleFromName = (name: string): FontStyle => {
  const family = name.replace(/^[A-Z]{6}\+/, "");
  return {
    bold: BOLD.test(family),
    italic: /ital|obliq|cmti|cmsl|sfti|[-,]it?$/i.test(family),
    mono: MONO.test(family),
    symbol: /wingding|dingbat|webding|symbol/i.test(family),
  };
};

interface FontObject {
  name?: string;
  bold?: boolean;
  black?: boolean;
}

const PLAIN_STYLE: FontStyle = { bold: false, italic: false, mono: false, symbol: false };

/** Styles of a document's fonts by their pdf.js names. A font is known once a page that uses it has been parsed completely. */
export class FontStyles {
  readonly #styles = new Map<string, FontStyle>();

  styleOf(font: string): FontStyle {
    return this.#styles.get(font) ?? PLAIN_STYLE;
  }

  hasAll(runs: Iterable<{ font: string }>): boolean {
    for (const { font } of runs) if (!this.#styles.has(font)) return false;
    return true;
  }

  /** Adds the fonts of a page whose operators pdf.js has parsed. */
  addFrom(page: PdfPage, runs: Iterable<{ font: string }>): void {
    for (const { font } of runs) {
      if (this.#styles.has(font)) continue;
      const object = page.commonObjs.has(font) ? (page.commonObjs.get(font) as FontObject) : {};
      const style = styleFromName(object.name ?? "");
      this.#styles.set(font, { ...style, bold: style.bold || object.bold === true || object.black === true });
    }
  }
}
