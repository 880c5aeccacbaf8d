import { type Matrix, multiply } from "./geometry.ts";
import type { PdfPage } from "./openPdf.ts";
import type { Layers } from "./layers.ts";
import { OPS, visitOperators } from "./operators.ts";
import { findGlyphKind } from "./glyphKinds.ts";
import { type GlyphPosition, TextFlow } from "./textFlow.ts";
import { TEXT_OPERATORS, DEFAULT_UNIT, IDENTITY, INITIAL_TEXT_STATE, type TextState, translate } from "./textState.ts";
import { type Glyph, MAX_ITEMS, type TextItem, type TextItems } from "./textItems.ts";

interface Font {
  name?: string;
  vertical?: boolean;
  isType3Font?: boolean;
  fontMatrix?: number[];
}

/** Reads the text of a page from its operators. */
class TextReader {
  readonly #items: TextItem[] = [];
  readonly #page: PdfPage;
  #state = INITIAL_TEXT_STATE;
  readonly #saved: TextState[] = [];
  /** The text of the page, and of each surrounding form. */
  readonly #flows: TextFlow[] = [new TextFlow(this.#items)];
  /** The surrounding annotations, and whether their text is included. */
  readonly #annotations: boolean[] = [];
  readonly #shown: ReadonlySet<string>;
  readonly #fonts = new Map<string, Font>();
  /** Text at any other position of the page is invisible. */
  readonly #view: readonly number[];
  /** The text is of a kind that only pdf.js can order. */
  needsPdfJs = false;
  /** A layer that is switched off contains text. */
  hasHidden = false;

  constructor(page: PdfPage, shown: ReadonlySet<string>) {
    this.#page = page;
    this.#shown = shown;
    this.#view = page.view;
  }

  get #flow(): TextFlow {
    return this.#flows.at(-1)!;
  }

  /** Handles an operator; returns whether it wants the next one. */
  visit(operator: number, args: unknown[], current: Matrix, isHidden: boolean): boolean {
    const change = TEXT_OPERATORS.get(operator);
    if (change) this.#state = { ...this.#state, ...change(this.#state, args as number[]) };
    else if (operator === OPS.showText) this.#show(args[0] as (Glyph | number)[], current, isHidden);
    else if (operator === OPS.setTextMatrix) this.#setMatrix(Array.from(args[0] as Float32Array), current);
    else if (operator === OPS.setFont) this.#setFont(args[0] as string, args[1] as number);
    else if (operator === OPS.setGState) this.#setFontOf(args[0] as [string, unknown][]);
    else this.#nest(operator, args);
    return !this.needsPdfJs && this.#items.length < MAX_ITEMS;
  }

  finish(): TextItems {
    const isCut = this.#items.length >= MAX_ITEMS;
    for (const flow of this.#flows.toReversed()) flow.flush();
    return { items: this.#items, isCut, hasHidden: this.hasHidden };
  }

  /** Marked content, saved states, forms and annotations. */
  #nest(operator: number, args: unknown[]): void {
    if (operator === OPS.save) this.#saved.push(this.#state);
    else if (operator === OPS.restore) this.#state = this.#saved.pop() ?? this.#state;
    else if (operator === OPS.beginAnnotation) {
      this.#annotations.push(this.#shown.has(args[0] as string));
      this.#open();
    } else if (operator === OPS.endAnnotation) {
      this.#annotations.pop();
      this.#close();
    } else if (operator === OPS.beginMarkedContent || operator === OPS.beginMarkedContentProps) this.#beginMark(args);
    else if (operator === OPS.endMarkedContent) {
      this.#flow.flush();
      this.#items.push({ type: "endMarkedContent" });
    } else if (operator === OPS.paintFormXObjectBegin) this.#open();
    else if (operator === OPS.paintFormXObjectEnd) this.#close();
  }

  /** Opens a form or an annotation, which has a separate text. */
  #open(): void {
    this.#flow.flush();
    this.#saved.push(this.#state);
    this.#flows.push(new TextFlow(this.#items));
  }

  #close(): void {
    this.#flow.flush();
    if (this.#flows.length > 1) this.#flows.pop();
    this.#state = this.#saved.pop() ?? this.#state;
  }

  #beginMark([name, number]: unknown[]): void {
    this.#flow.flush();
    const tag = typeof name === "string" ? name : ((name as { name?: string } | null)?.name ?? null);
    const { num, gen } = this.#page.ref ?? { num: 0, gen: 0 };
    // the id that pdf.js uses in the tree of tags
    const id = Number.isInteger(number) ? `p${num}R${gen === 0 ? "" : gen}_mc${number as number}` : null;
    this.#items.push({ type: "beginMarkedContent", id, tag });
  }

  #fontOf(name: string): Font {
    let font = this.#fonts.get(name);
    if (!font) {
      const { commonObjs } = this.#page;
      this.#fonts.set(name, (font = commonObjs.has(name) ? (commonObjs.get(name) as Font) : {}));
    }
    return font;
  }

  #setFont(name: string, size: number): void {
    const font = this.#fontOf(name);
    const style = { font: name, family: font.name ?? name, size: Math.abs(size), widthSize: 0 };
    this.#state = { ...this.#state, style, unit: font.fontMatrix?.[0] ?? DEFAULT_UNIT, sign: size < 0 ? -1 : 1 };
  }

  #setFontOf(entries: [string, unknown][]): void {
    for (const [key, value] of entries) {
      if (key !== "Font") continue;
      this.#flow.flush();
      this.#setFont(...(value as [string, number]));
    }
  }

  #setMatrix(numbers: number[], current: Matrix): void {
    const text = numbers as unknown as Matrix;
    this.#state = { ...this.#state, text, line: text };
    this.#flow.setScale(this.#scale(current));
  }

  #scale(current: Matrix): number {
    const { line } = this.#state;
    return Math.hypot(line[0], line[1]) * Math.hypot(current[0], current[1]);
  }

  #show(glyphs: readonly (Glyph | number)[], current: Matrix, isHidden: boolean): void {
    const state = this.#state;
    const font = this.#fontOf(state.style.font);
    if (this.#annotations.includes(false) || !Array.isArray(glyphs)) return;
    if (font.vertical === true || font.isType3Font === true) this.needsPdfJs = true;
    const { sign, rise, stretch, unit } = state;
    const [a, b, c, d, e, f] = multiply(current, state.text);
    const matrix: Matrix = [sign * a, sign * b, sign * c, sign * d, 0, 0];
    const style = { ...state.style, widthSize: state.style.size * stretch };
    const length = Math.hypot(matrix[0], matrix[1]) || 1;
    const pen: GlyphPosition = { x: 0, y: 0, rise: sign * rise, matrix, length, scale: this.#scale(current) };
    const end = { x: 0, y: 0 };
    const [startX, startY] = [e + c * rise, f + d * rise];
    // outside the loop, because a report has a million characters
    const [left, bottom, right, top] = this.#view as [number, number, number, number];
    const flow = this.#flow;
    flow.setStyle(style);
    /** How far the pen has moved along the text, in text space. */
    let at = 0;
    for (const glyph of glyphs) {
      if (typeof glyph === "number") {
        at -= (glyph / 1_000) * style.size * stretch * sign;
        continue;
      }
      const kind = findGlyphKind(glyph.unicode);
      if (kind === "invisible") continue;
      const width = kind === "combining" ? 0 : glyph.width * unit * style.size * sign;
      const spacing = (state.spacing + (glyph.originalCharCode === 0x20 ? state.wordSpacing : 0)) * stretch;
      if (isHidden) {
        this.hasHidden ||= kind !== "space";
        at += width * stretch + spacing;
        continue;
      }
      if (kind === "space") {
        at += width * stretch + spacing;
        flow.addWhiteSpace();
        continue;
      }
      pen.x = startX + a * at;
      pen.y = startY + b * at;
      if (kind !== "combining") {
        const isVisible = pen.x + width >= left && pen.x <= right && pen.y >= bottom && pen.y <= top;
        if (!isVisible) {
          at += width * stretch;
          continue;
        }
        flow.moveTo(pen);
      }
      at += width * stretch;
      end.x = startX + a * at;
      end.y = startY + b * at;
      // its letters in storage order, from left to right
      const text = kind === "ligature" ? [...glyph.unicode].toReversed().join("") : glyph.unicode;
      flow.add(text, style, pen, width * stretch * sign, end);
      at += spacing;
    }
    this.#state = { ...state, text: translate(state.text, at, 0) };
  }
}

/**
 * Reads the text of a page from its operators. The reader of drawn lines uses these as well, so pdf.js parses the page once. Null if only
 * pdf.js can read the text. Also null if there is no text, because only the text extraction of pdf.js detects a damaged page. `shown`:
 * ids of the annotations whose text is read.
 */
export async function itemsByOperators(
  page: PdfPage,
  shown: ReadonlySet<string>,
  layers: Layers,
): Promise<TextItems | null> {
  const reader = new TextReader(page, shown);
  await visitOperators(page, { matrix: IDENTITY, layers }, (...operator) => reader.visit(...operator));
  const found = reader.finish();
  return reader.needsPdfJs || (found.items.length === 0 && !found.hasHidden) ? null : found;
}
