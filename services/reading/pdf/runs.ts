import { type Box, type Matrix, times } from "./geometry.ts";
import type { PdfPage } from "./open.ts";
import { plain } from "./characters.ts";

/** Text in one font on one baseline. */
export interface Run extends Box {
  text: string;
  baseline: number;
  /** In points. */
  size: number;
  /** As pdf.js names it: one name is one font of the document. */
  font: string;
  /** The program that wrote the page put white space before it. */
  spaced: boolean;
  /** The innermost marked content with an id that it stands in. */
  mark: string | null;
  /** Marked as not being part of what the document says: running heads, page numbers. */
  artifact: boolean;
  link: string | null;
}

/** More than a page of a telephone book has. */
const MOST_RUNS = 60_000;

interface Piece {
  str?: string;
  dir?: string;
  width?: number;
  height?: number;
  transform?: number[];
  fontName?: string;
  type?: string;
  id?: string;
  tag?: string;
  hasEOL?: boolean;
}

interface Mark {
  id: string | null;
  artifact: boolean;
}

/** Quarter turns that bring the text upright. */
type Turn = 0 | 1 | 2 | 3;

const turnOf = (m: Matrix): Turn => {
  if (Math.abs(m[0]) >= Math.abs(m[1])) return m[0] >= 0 ? 0 : 2;
  return m[1] > 0 ? 1 : 3;
};

/** Turns a point of a page that is `w` wide and `h` high; y down. */
const upright = (turn: Turn, w: number, h: number): Matrix => {
  if (turn === 1) return [0, -1, 1, 0, 0, w];
  if (turn === 2) return [-1, 0, 0, -1, w, h];
  return turn === 3 ? [0, 1, -1, 0, h, 0] : [1, 0, 0, 1, 0, 0];
};

async function* pieces(page: PdfPage): AsyncGenerator<Piece> {
  const reader = page.streamTextContent({ includeMarkedContent: true, disableNormalization: true }).getReader();
  try {
    for (let count = 0; count < MOST_RUNS; ) {
      const { done, value } = (await reader.read()) as { done: boolean; value?: { items: Piece[] } };
      if (done || value === undefined) return;
      count += value.items.length;
      yield* value.items;
    }
  } finally {
    await reader.cancel(new Error("Enough was read."));
  }
}

const runOf = (piece: Piece, matrix: Matrix, mark: Mark, spaced: boolean): Run => {
  const size = Math.hypot(matrix[2], matrix[3]) || (piece.height ?? 0);
  const [x, baseline] = [matrix[4], matrix[5]];
  const length = piece.width ?? 0;
  return {
    text: plain(piece.str ?? ""),
    x0: x,
    x1: x + length,
    y0: baseline - size * 0.75,
    y1: baseline + size * 0.22,
    baseline,
    size,
    font: piece.fontName ?? "",
    spaced,
    mark: mark.id,
    artifact: mark.artifact,
    link: null,
  };
};

/** Text that stands at another angle than most of its page. */
export interface TurnedRun {
  /** Where it is on the page. */
  there: Run;
  /** As if it were upright, beside others of the same angle. */
  upright: Run;
  turn: Turn;
}

export interface PageText {
  runs: Run[];
  turned: TurnedRun[];
  /** From PDF units to the coordinates of the runs. */
  matrix: Matrix;
  width: number;
  height: number;
}

interface Found {
  piece: Piece;
  matrix: Matrix;
  turn: Turn;
  mark: Mark;
  spaced: boolean;
}

async function find(page: PdfPage, toView: Matrix): Promise<Found[]> {
  const marks: Mark[] = [];
  const found: Found[] = [];
  let spaced = true;
  for await (const piece of pieces(page)) {
    const around = marks.at(-1) ?? { id: null, artifact: false };
    if (piece.type === "endMarkedContent") marks.pop();
    else if (piece.type !== undefined) {
      marks.push({ id: piece.id ?? around.id, artifact: around.artifact || piece.tag === "Artifact" });
    } else if ((piece.str ?? "").trim() === "") spaced = true;
    else {
      const matrix = times(toView, piece.transform as unknown as Matrix);
      found.push({ piece, matrix, turn: turnOf(matrix), mark: around, spaced });
      spaced = piece.hasEOL === true;
    }
  }
  return found;
}

const isSaid = (run: Run): boolean => run.text.trim() !== "" && run.size > 0;

/** A turned run in the page's own coordinates: its middle is where it is, its length is not kept. */
function inPlace(run: Run, matrix: Matrix): Run {
  const along = run.x1 - run.x0;
  const scale = Math.hypot(matrix[0], matrix[1]) || 1;
  const x = matrix[4] + ((matrix[0] / scale) * along) / 2;
  const y = matrix[5] + ((matrix[1] / scale) * along) / 2;
  const half = run.size / 2;
  return { ...run, x0: x - half, x1: x + half, y0: y - half, y1: y + half, baseline: y + run.size * 0.3 };
}

/** The text of a page, brought upright by most of its text. */
export async function textOf(page: PdfPage): Promise<PageText> {
  const view = page.getViewport({ scale: 1 });
  const toView = view.transform as unknown as Matrix;
  const found = await find(page, toView);
  const characters = [0, 0, 0, 0];
  for (const { turn, piece } of found) characters[turn]! += piece.str!.length;
  const main = characters.indexOf(Math.max(...characters)) as Turn;
  const rotate = upright(main, view.width, view.height);
  const runs: Run[] = [];
  const turned: TurnedRun[] = [];
  for (const { piece, matrix, turn, mark, spaced } of found) {
    const run = runOf(piece, times(upright(turn, view.width, view.height), matrix), mark, spaced);
    if (!isSaid(run)) continue;
    if (turn === main) runs.push(run);
    else turned.push({ there: inPlace(run, times(rotate, matrix)), upright: run, turn });
  }
  const [width, height] = main % 2 === 0 ? [view.width, view.height] : [view.height, view.width];
  return { runs, turned, matrix: times(rotate, toView), width, height };
}

/** Cuts a run at vertical lines that it stands across, between its words; where they stand within it is an estimate. */
export function cutRun(run: Run, places: readonly number[]): Run[] {
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
