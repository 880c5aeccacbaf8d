import type { PdfPage } from "./open.ts";

export interface Face {
  bold: boolean;
  italic: boolean;
  mono: boolean;
  /** Its letters are signs: bullets, arrows. */
  symbol: boolean;
}

const BOLD = /bold|black|heavy|demi|[-,.]b$|cmb|cmssb|sfbx|medi(?!um)|(?:tb|zb)$|[-_](?:bd|hv|bk?d)/i;
const MONO =
  /mono|courier|consol|typewriter|cmtt|cmsltt|sftt|fixed|menlo|lettergothic|inconsolata|lucidasanstypewriter|txtt|nimbusmon/i;

const faceOf = (name: string): Face => {
  const family = name.replace(/^[A-Z]{6}\+/, "");
  return {
    bold: BOLD.test(family),
    italic: /ital|obliq|cmti|cmsl|sfti|[-,]it?$/i.test(family),
    mono: MONO.test(family),
    symbol: /wingding|dingbat|webding|symbol/i.test(family),
  };
};

interface Known {
  name?: string;
  bold?: boolean;
  black?: boolean;
}

const NO_FACE: Face = { bold: false, italic: false, mono: false, symbol: false };

/** The faces of a document's fonts by pdf.js's name for them; known once a page that uses them was parsed in full. */
export class Faces {
  readonly #faces = new Map<string, Face>();

  face(font: string): Face {
    return this.#faces.get(font) ?? NO_FACE;
  }

  know(runs: Iterable<{ font: string }>): boolean {
    for (const { font } of runs) if (!this.#faces.has(font)) return false;
    return true;
  }

  /** Reads what the page's parsed operators have told pdf.js about its fonts. */
  learn(page: PdfPage, runs: Iterable<{ font: string }>): void {
    for (const { font } of runs) {
      if (this.#faces.has(font)) continue;
      const known = page.commonObjs.has(font) ? (page.commonObjs.get(font) as Known) : {};
      const face = faceOf(known.name ?? "");
      this.#faces.set(font, { ...face, bold: face.bold || known.bold === true || known.black === true });
    }
  }
}
