import { type Box, type Matrix, multiply } from "./geometry.ts";
import type { PdfPage } from "./openPdf.ts";
import { normalizeText } from "./characters.ts";
import type { Layers } from "./layers.ts";
import { itemsByOperators } from "./shownText.ts";
import { createSymbolCount } from "./symbols.ts";
import { itemsByPdfJs, type TextItem, type TextItems } from "./textItems.ts";
import { dropHiddenText } from "./hiddenText.ts";

/** Text in one font on one baseline. */
export interface TextRun extends Box {
  text: string;
  baseline: number;
  /** In points. */
  size: number;
  /** pdf.js's name, which is unique within the document. */
  font: string;
  /** Whether the PDF has white space before it. */
  spaced: boolean;
  /** Id of the innermost marked content around it. */
  mark: string | null;
  /** Whether it is marked as an artifact, like running heads and page numbers. */
  artifact: boolean;
  link: string | null;
}

interface Mark {
  id: string | null;
  artifact: boolean;
}

/** Number of quarter turns that make the text upright. */
type QuarterTurns = 0 | 1 | 2 | 3;

const quarterTurns = (m: Matrix): QuarterTurns => {
  if (Math.abs(m[0]) >= Math.abs(m[1])) return m[0] >= 0 ? 0 : 2;
  return m[1] > 0 ? 1 : 3;
};

/** The matrix of the quarter turns, for a page of width `w` and height `h` in points; y down. */
const upright = (turn: QuarterTurns, w: number, h: number): Matrix => {
  if (turn === 1) return [0, -1, 1, 0, 0, w];
  if (turn === 2) return [-1, 0, 0, -1, w, h];
  return turn === 3 ? [0, 1, -1, 0, h, 0] : [1, 0, 0, 1, 0, 0];
};

const toRun = (item: TextItem, matrix: Matrix, mark: Mark, spaced: boolean): TextRun => {
  const size = Math.hypot(matrix[2], matrix[3]) || (item.height ?? 0);
  const [x, baseline] = [matrix[4], matrix[5]];
  const length = item.width ?? 0;
  return {
    text: normalizeText(item.str ?? ""),
    x0: x,
    x1: x + length,
    y0: baseline - size * 0.75,
    y1: baseline + size * 0.22,
    baseline,
    size,
    font: item.fontName ?? "",
    spaced,
    mark: mark.id,
    artifact: mark.artifact,
    link: null,
  };
};

/** Text at another angle than most of its page. */
export interface RotatedRun {
  /** At its place on the page. */
  onPage: TextRun;
  /** Rotated upright together with all text of the same angle. */
  upright: TextRun;
  turn: QuarterTurns;
}

export interface PageText {
  runs: TextRun[];
  rotated: RotatedRun[];
  /** From PDF units to page coordinates. */
  matrix: Matrix;
  width: number;
  height: number;
  /** Whether it has more text than the limit. */
  isCut: boolean;
  /** Whether its fonts lack a map to characters. */
  isSymbols: boolean;
  /** Whether layers that are switched off contain text. */
  hasHidden: boolean;
}

interface PlacedItem {
  item: TextItem;
  matrix: Matrix;
  turn: QuarterTurns;
  mark: Mark;
  spaced: boolean;
}

function placeItems(items: readonly TextItem[], toView: Matrix): { found: PlacedItem[]; isSymbols: boolean } {
  const marks: Mark[] = [];
  const found: PlacedItem[] = [];
  const symbols = createSymbolCount();
  let spaced = true;
  for (const item of items) {
    const around = marks.at(-1) ?? { id: null, artifact: false };
    if (item.type === "endMarkedContent") marks.pop();
    else if (item.type !== undefined) {
      marks.push({ id: item.id ?? around.id, artifact: around.artifact || item.tag === "Artifact" });
    } else if ((item.str ?? "").trim() === "") spaced = true;
    else {
      const matrix = multiply(toView, item.transform as unknown as Matrix);
      found.push({ item, matrix, turn: quarterTurns(matrix), mark: around, spaced });
      symbols.add(item.str!);
      spaced = item.hasEOL === true;
    }
  }
  return { found, isSymbols: symbols.isUnreadable() };
}

const hasText = (run: TextRun): boolean => run.text.trim() !== "" && run.size > 0;

/** A rotated run in page coordinates: a square of its text size around its middle. */
function toPagePosition(run: TextRun, matrix: Matrix): TextRun {
  const along = run.x1 - run.x0;
  const scale = Math.hypot(matrix[0], matrix[1]) || 1;
  const x = matrix[4] + ((matrix[0] / scale) * along) / 2;
  const y = matrix[5] + ((matrix[1] / scale) * along) / 2;
  const half = run.size / 2;
  return { ...run, x0: x - half, x1: x + half, y0: y - half, y1: y + half, baseline: y + run.size * 0.3 };
}

interface TextOptions {
  /** Avoids the page's operators, which cost too much. With layers they are still read, because only they show what is hidden. */
  isTextOnly: boolean;
  /** The file's budget of annotations is spent, so the operators must not be requested at all. */
  isBudgetSpent: boolean;
  /** The annotations whose text is included. */
  shown: ReadonlySet<string>;
  layers: Layers;
}

async function readItems(page: PdfPage, { isTextOnly, isBudgetSpent, shown, layers }: TextOptions): Promise<TextItems> {
  if (isBudgetSpent || (isTextOnly && !layers.exist)) return itemsByPdfJs(page);
  const byOperators = await itemsByOperators(page, shown, layers);
  return byOperators ?? dropHiddenText(page, await itemsByPdfJs(page), layers);
}

/** The text of a page, rotated so that most of it is upright. */
export async function readText(page: PdfPage, options: TextOptions): Promise<PageText> {
  const view = page.getViewport({ scale: 1 });
  const toView = view.transform as unknown as Matrix;
  const { items, isCut, hasHidden } = await readItems(page, options);
  const { found, isSymbols } = placeItems(items, toView);
  const characters = [0, 0, 0, 0];
  for (const { turn, item } of found) characters[turn]! += item.str!.length;
  const main = characters.indexOf(Math.max(...characters)) as QuarterTurns;
  const rotate = upright(main, view.width, view.height);
  const runs: TextRun[] = [];
  const turned: RotatedRun[] = [];
  for (const { item, matrix, turn, mark, spaced } of found) {
    const run = toRun(item, multiply(upright(turn, view.width, view.height), matrix), mark, spaced);
    if (!hasText(run)) continue;
    if (turn === main) runs.push(run);
    else turned.push({ onPage: toPagePosition(run, multiply(rotate, matrix)), upright: run, turn });
  }
  const [width, height] = main % 2 === 0 ? [view.width, view.height] : [view.height, view.width];
  return { runs, rotated: turned, matrix: multiply(rotate, toView), width, height, isCut, isSymbols, hasHidden };
}

/** Cuts a run between words at the given x coordinates. The position of a word within the run is an estimate. */
export function cutRun(run: TextRun, places: readonly number[]): TextRun[] {
  const inside = places.filter((x) => x > run.x0 + run.size * 0.3 && x < run.x1 - run.size * 0.3);
  if (inside.length === 0) return [run];
  const perCharacter = (run.x1 - run.x0) / run.text.length;
  const cuts = [0];
  for (const x of inside) {
    const guess = Math.round((x - run.x0) / perCharacter);
    const spaces = [...run.text.matchAll(/ +|(?<=\w)(?=[.,;:!?)\]]+(?: |$))/g)].map((gap) => gap.index + gap[0].length);
    const nearest = spaces.toSorted((a, b) => Math.abs(a - guess) - Math.abs(b - guess))[0];
    if (nearest !== undefined && nearest > cuts.at(-1)! && Math.abs(nearest - guess) <= 6) cuts.push(nearest);
  }
  return cuts.map((from, index) => {
    const to = cuts[index + 1] ?? run.text.length;
    const spaced = index > 0 || run.spaced;
    return {
      ...run,
      text: run.text.slice(from, to),
      x0: run.x0 + from * perCharacter,
      x1: run.x0 + to * perCharacter,
      spaced,
    };
  });
}
