import { boundingBox, type Box, overlap } from "./geometry.ts";
import { groupLines, lineText } from "./lines.ts";
import { repeatMergedTexts } from "./mergedCells.ts";
import type { Rule, Rules } from "./rules.ts";
import { cutRun, type TextRun } from "./runs.ts";

export interface Table extends Box {
  rows: string[][];
}

export interface TableSplit {
  tables: Table[];
  /** The runs outside all tables. */
  rest: TextRun[];
}

/** Maximum distance of rules that meet, in points. */
const TOLERANCE = 3;
const MAX_CELLS = 20_000;

/** Groups of rules that meet, directly or through others. */
function connectedRules(rules: Rules): Rules[] {
  const { across, down } = rules;
  const net = new Int32Array(across.length + down.length).map((_, index) => index);
  const root = (index: number): number => {
    let top = index;
    while (net[top] !== top) top = net[top] = net[net[top]!]!;
    return top;
  };
  for (const [i, flat] of across.entries()) {
    for (const [j, steep] of down.entries()) {
      const meet =
        steep.at >= flat.from - TOLERANCE &&
        steep.at <= flat.to + TOLERANCE &&
        flat.at >= steep.from - TOLERANCE &&
        flat.at <= steep.to + TOLERANCE;
      if (meet) net[root(i)] = root(across.length + j);
    }
  }
  const found = new Map<number, Rules>();
  const into = (index: number): Rules => {
    const key = root(index);
    const rest = found.get(key) ?? { across: [], down: [] };
    found.set(key, rest);
    return rest;
  };
  for (const [i, flat] of across.entries()) into(i).across.push(flat);
  for (const [j, steep] of down.entries()) into(across.length + j).down.push(steep);
  return [...found.values()];
}

/** Sorted coordinates of the rules and of the outer edges of the rules that cross them. */
const positions = (rules: readonly Rule[], ends: readonly Rule[]): number[] => {
  const all = [
    ...rules.map((rule) => rule.at),
    Math.min(...ends.map((end) => end.from)),
    Math.max(...ends.map((end) => end.to)),
  ];
  const distinct: number[] = [];
  for (const place of all.toSorted((a, b) => a - b))
    if (distinct.length === 0 || place - distinct.at(-1)! > TOLERANCE) distinct.push(place);
  return distinct;
};

/** The index of the interval that a value falls into; the last one for larger values. */
const intervalIndex = (places: readonly number[], value: number): number => {
  for (let i = 1; i < places.length; i++) if (value < places[i]!) return i - 1;
  return places.length - 2;
};

const isDrawn = (rules: readonly Rule[], place: number, from: number, to: number): boolean =>
  rules.some(
    (rule) => Math.abs(rule.at - place) <= TOLERANCE && overlap(rule.from, rule.to, from, to) > 0.6 * (to - from),
  );

/** Minimum space around a wall that is drawn only in other rows, as a multiple of the text's size. */
const WALL_SPACE = 0.6;

/** Whether the texts of a row are separated at a wall that is drawn only in other rows, such as the header. */
function partsAt(row: readonly TextRun[], x: number): boolean {
  const left = row.filter((run) => run.x0 + run.x1 < 2 * x);
  const right = row.filter((run) => run.x0 + run.x1 >= 2 * x);
  if (left.length === 0 || right.length === 0) return false;
  const [end, start] = [Math.max(...left.map((run) => run.x1)), Math.min(...right.map((run) => run.x0))];
  return end <= x + 1 && start >= x - 1 && start - end >= row[0]!.size * WALL_SPACE;
}

/** The owner of each cell's text: a cell without a wall to its left or upper neighbour is merged into it. */
function cellOwners(xs: readonly number[], ys: readonly number[], net: Rules, runs: readonly TextRun[]): number[] {
  const columns = xs.length - 1;
  const owner: number[] = [];
  for (let row = 0; row < ys.length - 1; row++) {
    const texts = runs.filter((run) => isBetween(run, ys[row]!, ys[row + 1]!) && isInside(run, xs));
    for (let column = 0; column < columns; column++) {
      const self = row * columns + column;
      const drawn = isDrawn(net.down, xs[column]!, ys[row]!, ys[row + 1]!);
      const left = column > 0 && !drawn && !partsAt(texts, xs[column]!);
      const above = row > 0 && !isDrawn(net.across, ys[row]!, xs[column]!, xs[column + 1]!);
      if (left) owner.push(owner[self - 1]!);
      else owner.push(above ? owner[self - columns]! : self);
    }
  }
  return owner;
}

/** The height that decides to which row a run belongs. */
const middleOf = (run: TextRun): number => run.baseline - run.size * 0.3;

const isBetween = (run: TextRun, y0: number, y1: number): boolean => middleOf(run) >= y0 && middleOf(run) < y1;

const isInside = (run: TextRun, xs: readonly number[]): boolean =>
  run.x0 + run.x1 >= 2 * xs[0]! && run.x0 + run.x1 <= 2 * xs.at(-1)!;

const cellText = (runs: readonly TextRun[]): string =>
  groupLines(runs)
    .map((line) => lineText(line))
    .join("\n");

/** Splits a row without inner rules if its cells have their text on the same baselines. `alone`: the row is the whole body. */
function splitUnruledRow(cells: readonly TextRun[][], alone: boolean): TextRun[][][] {
  const filled = cells.filter((cell) => cell.length > 0).map((cell) => groupLines(cell).map((line) => line.baseline));
  const most = Math.max(0, ...filled.map((lines) => lines.length));
  const agree = filled.filter((lines) => lines.length >= most * 0.7);
  const all = agree.length === filled.length && filled.length > 2 && agree.every((lines) => lines.length === most);
  if (most < 3 || agree.length < 2 || agree.length < filled.length * 0.6 || !(alone || all)) return [[...cells]];
  const baselines = filled.find((lines) => lines.length === most)!;
  const even = agree.every((lines) => lines.every((line) => baselines.some((other) => Math.abs(other - line) < 2)));
  if (!even) return [[...cells]];
  const nearest = (run: TextRun): number =>
    baselines.reduce(
      (best, line, index) => (Math.abs(line - run.baseline) < Math.abs(baselines[best]! - run.baseline) ? index : best),
      0,
    );
  return baselines.map((_, index) => cells.map((cell) => cell.filter((run) => nearest(run) === index)));
}

function toTable(net: Rules, runs: readonly TextRun[]): { table: Table; used: Set<TextRun> } | null {
  if (net.down.length < 1 || net.across.length < 2) return null;
  const xs = positions(net.down, net.across);
  const ys = positions(net.across, net.down);
  const [columns, rows] = [xs.length - 1, ys.length - 1];
  if (columns < 2 || rows < 1 || columns * rows < 4 || columns * rows > MAX_CELLS) return null;
  const box: Box = { x0: xs[0]!, y0: ys[0]!, x1: xs.at(-1)!, y1: ys.at(-1)! };
  const owner = cellOwners(xs, ys, net, runs);
  const cells: TextRun[][] = owner.map(() => []);
  const used = new Set<TextRun>();
  for (const run of runs) {
    const middle = middleOf(run);
    if (middle < box.y0 - 1 || middle > box.y1 + 1) continue;
    if (!isInside(run, xs)) continue;
    used.add(run);
    const row = intervalIndex(ys, middle);
    const walls = xs
      .slice(1, -1)
      .filter((x, index) => owner[row * columns + index] !== owner[row * columns + index + 1] && x > 0);
    for (const part of cutRun(run, walls)) {
      cells[owner[row * columns + intervalIndex(xs, (part.x0 + part.x1) / 2)]!]!.push(part);
    }
  }
  const own = new Set(owner);
  const filled = [...own].filter((index) => cells[index]!.length > 0).length;
  if (filled < 3 || own.size < 4 || filled < own.size * 0.25) return null;
  // a frame around columns of text is not a table cell
  const large = cells.filter((cell) => cell.length > 30).reduce((sum, cell) => sum + cell.length, 0);
  if (large > used.size * (cells.some((cell) => cell.length === large) ? 0.4 : 0.8)) return null;
  const body: TextRun[][][] = Array.from({ length: rows }, (_, row) => cells.slice(row * columns, (row + 1) * columns));
  const text = body.flatMap((row) => splitUnruledRow(row, rows <= 2)).map((row) => row.map(cellText));
  const table = trimTable(text.length === rows ? repeatMergedTexts({ owner, columns }, text) : text);
  return table === null ? null : { table: { ...box, rows: table }, used };
}

/** Drops empty rows and columns; null if fewer than two of either remain. */
export function trimTable(rows: readonly string[][]): string[][] | null {
  const filled = rows.filter((row) => row.some((cell) => cell !== ""));
  const columns = (filled[0] ?? []).map((_, index) => index).filter((index) => filled.some((row) => row[index] !== ""));
  return filled.length < 2 || columns.length < 2 ? null : filled.map((row) => columns.map((index) => row[index]!));
}

/** Finds the tables with drawn lines between their cells. */
export function ruledTables(runs: readonly TextRun[], rules: Rules): TableSplit {
  const tables: Table[] = [];
  let rest = [...runs];
  if (rules.across.length * rules.down.length > 1_000_000) return { tables, rest };
  const found = connectedRules(rules).toSorted(
    (a, b) => b.across.length + b.down.length - a.across.length - a.down.length,
  );
  for (const net of found.slice(0, 100)) {
    const result = toTable(net, rest);
    if (result === null) continue;
    tables.push({ ...boundingBox([result.table]), rows: result.table.rows });
    rest = rest.filter((run) => !result.used.has(run));
  }
  return { tables, rest };
}
