import type { Matrix } from "./geometry.ts";
import { inReadingOrder } from "./readingDirection.ts";
import type { TextItem } from "./textItems.ts";

/* Widths of gaps between characters, in font sizes. They equal those of pdf.js, so that both ways of reading text cut it almost alike. */

/** The next character starts further to the left, so it belongs to another text. */
const MAX_OVERLAP = 0.2;
/** A narrower stored space does not count. */
const MAX_TIGHT_SPACE = 0.03;
/** A wider gap counts as a space. */
const MIN_SPACE = 0.102;
/** A wider gap separates two texts. */
const MAX_SPACE = 0.6;
/** Maximum vertical offset of a character, as shares of the text's height. */
const MAX_SHIFT = 0.25;
const MAX_LINE_SHIFT = 0.5;

/** Properties that all characters of one text share. */
export interface TextStyle {
  font: string;
  /** The name in the file, which is equal for subsets of one font. */
  family: string;
  /** Height and width in text space; neither is negative. */
  size: number;
  widthSize: number;
}

/** The position of the pen before a character. */
export interface GlyphPosition {
  x: number;
  y: number;
  rise: number;
  /** From text space to the page; its last two numbers are unused. */
  matrix: Matrix;
  /** Length of the matrix's first axis, not 0. */
  length: number;
  /** Length of a unit of text space. */
  scale: number;
}

interface OpenText {
  text: string;
  font: string;
  size: number;
  height: number;
  transform: number[];
  /** Length of the parts that ended with another scale. */
  length: number;
  advance: number;
  scale: number;
}

const blank = (x: number, y: number, hasEOL: boolean): TextItem => ({ str: "", transform: [1, 0, 0, 1, x, y], hasEOL });

/** Joins characters to texts, like pdf.js: one text for each part of a line without wide gaps, in one font. */
export class TextFlow {
  readonly #items: TextItem[];
  #open: OpenText | null = null;
  /** The last open text, whose size and direction determine the meaning of the next gap. */
  #last: OpenText | null = null;
  #end: { x: number; y: number; rise: number } | null = null;
  #family = "";
  #size = 0;
  /** Whether the file has white space since the last character. */
  #space = false;
  #isStart = true;

  constructor(items: TextItem[]) {
    this.#items = items;
  }

  /** Ends the open text. */
  flush(): void {
    const open = this.#open;
    if (open === null) return;
    this.#items.push({
      str: inReadingOrder(open.text),
      width: Math.abs(open.length + open.advance * open.scale),
      height: open.height,
      transform: open.transform,
      fontName: open.font,
      hasEOL: false,
    });
    this.#open = null;
  }

  /** Ends the text if another size or font begins. */
  setStyle({ family, size }: TextStyle): void {
    if (size !== this.#size || family !== this.#family) this.flush();
    this.#size = size;
    this.#family = family;
  }

  /** Must be called when the text matrix has changed. */
  setScale(scale: number): void {
    const open = this.#open;
    if (open === null || open.scale === scale) return;
    open.length += open.advance * open.scale;
    open.advance = 0;
    open.scale = scale;
  }

  addWhiteSpace(): void {
    if (!this.#isStart) this.#space = true;
  }

  /** Adds a character of a width, in text space, at the pen; combining ones without a width. `end`: the pen after it. */
  add(character: string, style: TextStyle, pen: GlyphPosition, width: number, end: { x: number; y: number }): void {
    const open = (this.#open ??= this.#begin(style, pen));
    open.advance += width;
    if (width !== 0) this.#moveEnd(end.x, end.y, pen.rise);
    if (this.#space) open.text += " ";
    open.text += character;
    this.#space = false;
    this.#isStart = false;
  }

  /** Changes the object in place, because a page has thousands of characters. */
  #moveEnd(x: number, y: number, rise: number): void {
    const end = (this.#end ??= { x, y, rise });
    end.x = x;
    end.y = y;
    end.rise = rise;
  }

  #begin(style: TextStyle, { x, y, matrix, scale }: GlyphPosition): OpenText {
    const { size, widthSize } = style;
    const [a, b, c, d] = matrix;
    const height = Math.hypot(c, d) * size;
    const transform = [a * widthSize, b * widthSize, c * size, d * size, x, y];
    this.#last = { text: "", font: style.font, size, height, transform, length: 0, advance: 0, scale };
    return this.#last;
  }

  #forgetSpace(): void {
    this.#space = false;
    this.#isStart = true;
  }

  /** Ends the text, and its line. */
  #endLine({ x, y }: GlyphPosition): void {
    this.#forgetSpace();
    if (this.#open === null) {
      this.#items.push(blank(x, y, true));
      return;
    }
    this.flush();
    this.#items.at(-1)!.hasEOL = true;
  }

  #separate({ x, y }: GlyphPosition): void {
    this.#forgetSpace();
    this.flush();
    this.#items.push(blank(x, y, false));
  }

  /** Moves the pen from the end of the last character to the next one, and ends the text, adds a space, or does neither. */
  moveTo(pen: GlyphPosition): void {
    const end = this.#end;
    const last = this.#last;
    if (end === null || last === null || (end.x === pen.x && end.y === pen.y)) return;
    const { matrix, length } = pen;
    // without iterators, because code that has just started runs them slowly
    const a = matrix[0];
    const b = matrix[1];
    const dx = pen.x - end.x;
    const dy = pen.y - end.y;
    const along = (a * dx + b * dy) / length / last.scale;
    const across = (a * dy - b * dx) / length;
    const lifted = across - ((a * matrix[3] - b * matrix[2]) / length) * (pen.rise - end.rise);
    if (along < -MAX_OVERLAP * last.size) {
      if (Math.abs(across) > MAX_LINE_SHIFT * last.height) return this.#endLine(pen);
      this.#forgetSpace();
      return this.flush();
    }
    if (Math.abs(lifted) > last.height) return this.#endLine(pen);
    this.#closeGap(along, last.size, pen);
    if (Math.abs(across) > MAX_SHIFT * last.height) this.flush();
  }

  #closeGap(gap: number, size: number, pen: GlyphPosition): void {
    if (gap <= MAX_TIGHT_SPACE * size) this.#forgetSpace();
    if (gap <= MIN_SPACE * size) {
      if (this.#space) this.#separate(pen);
      else if (this.#open) this.#open.advance += gap;
      return;
    }
    if (gap > MAX_SPACE * size || this.#open === null) return this.#separate(pen);
    this.#forgetSpace();
    this.#open.text += " ";
    this.#open.advance += gap;
  }
}
