import { around, type Box, overlap } from "./geometry.ts";
import { linesOf, textOfLine } from "./lines.ts";
import type { Rule, Rules } from "./rules.ts";
import { cutRun, type Run } from "./runs.ts";

export interface Table extends Box {
  rows: string[][];
}

export interface Tabled {
  tables: Table[];
  /** The runs that stand in none of the tables. */
  rest: Run[];
}

/** How far two lines may be apart and still meet, in points. */
const NEAR = 3;
const MOST_CELLS = 20_000;

/** Lines that meet each other, directly or through others. */
function nets(rules: Rules): Rules[] {
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
        steep.at >= flat.from - NEAR &&
        steep.at <= flat.to + NEAR &&
        flat.at >= steep.from - NEAR &&
        flat.at <= steep.to + NEAR;
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

const places = (rules: readonly Rule[], ends: readonly Rule[]): number[] => {
  const all = [
    ...rules.map((rule) => rule.at),
    Math.min(...ends.map((end) => end.from)),
    Math.max(...ends.map((end) => end.to)),
  ];
  const kept: number[] = [];
  for (const place of all.toSorted((a, b) => a - b))
    if (kept.length === 0 || place - kept.at(-1)! > NEAR) kept.push(place);
  return kept;
};

const between = (places: readonly number[], value: number): number => {
  for (let i = 1; i < places.length; i++) if (value < places[i]!) return i - 1;
  return places.length - 2;
};

const isDrawn = (rules: readonly Rule[], place: number, from: number, to: number): boolean =>
  rules.some((rule) => Math.abs(rule.at - place) <= NEAR && overlap(rule.from, rule.to, from, to) > 0.6 * (to - from));

/** Where each cell's text goes: a cell that no line parts from the one before it (left or above) belongs to that one. */
function owners(xs: readonly number[], ys: readonly number[], net: Rules): number[] {
  const columns = xs.length - 1;
  const owner: number[] = [];
  for (let row = 0; row < ys.length - 1; row++) {
    for (let column = 0; column < columns; column++) {
      const self = row * columns + column;
      const left = column > 0 && !isDrawn(net.down, xs[column]!, ys[row]!, ys[row + 1]!);
      const above = row > 0 && !isDrawn(net.across, ys[row]!, xs[column]!, xs[column + 1]!);
      owner.push(left ? owner[self - 1]! : above ? owner[self - columns]! : self);
    }
  }
  return owner;
}

const cellText = (runs: readonly Run[]): string =>
  linesOf(runs)
    .map((line) => textOfLine(line))
    .join("\n");

/** Rows of a body that has no lines between them: every cell has its text on the same baselines. `alone`: it is the whole body. */
function splitRow(cells: readonly Run[][], alone: boolean): Run[][][] {
  const filled = cells.filter((cell) => cell.length > 0).map((cell) => linesOf(cell).map((line) => line.baseline));
  const most = Math.max(0, ...filled.map((lines) => lines.length));
  const agree = filled.filter((lines) => lines.length >= most * 0.7);
  const all = agree.length === filled.length && filled.length > 2 && agree.every((lines) => lines.length === most);
  if (most < 3 || agree.length < 2 || agree.length < filled.length * 0.6 || !(alone || all)) return [[...cells]];
  const baselines = filled.find((lines) => lines.length === most)!;
  const even = agree.every((lines) => lines.every((line) => baselines.some((other) => Math.abs(other - line) < 2)));
  if (!even) return [[...cells]];
  const nearest = (run: Run): number =>
    baselines.reduce(
      (best, line, index) => (Math.abs(line - run.baseline) < Math.abs(baselines[best]! - run.baseline) ? index : best),
      0,
    );
  return baselines.map((_, index) => cells.map((cell) => cell.filter((run) => nearest(run) === index)));
}

function tableOf(net: Rules, runs: readonly Run[]): { table: Table; taken: Set<Run> } | null {
  if (net.down.length < 1 || net.across.length < 2) return null;
  const xs = places(net.down, net.across);
  const ys = places(net.across, net.down);
  const [columns, rows] = [xs.length - 1, ys.length - 1];
  if (columns < 2 || rows < 1 || columns * rows < 4 || columns * rows > MOST_CELLS) return null;
  const box: Box = { x0: xs[0]!, y0: ys[0]!, x1: xs.at(-1)!, y1: ys.at(-1)! };
  const owner = owners(xs, ys, net);
  const cells: Run[][] = owner.map(() => []);
  const taken = new Set<Run>();
  for (const run of runs) {
    const middle = run.baseline - run.size * 0.3;
    if (middle < box.y0 - 1 || middle > box.y1 + 1) continue;
    if (run.x0 + run.x1 < 2 * box.x0 || run.x0 + run.x1 > 2 * box.x1) continue;
    taken.add(run);
    const row = between(ys, middle);
    const walls = xs
      .slice(1, -1)
      .filter((x, index) => owner[row * columns + index] !== owner[row * columns + index + 1] && x > 0);
    for (const part of cutRun(run, walls)) {
      cells[owner[row * columns + between(xs, (part.x0 + part.x1) / 2)]!]!.push(part);
    }
  }
  const own = new Set(owner);
  const filled = [...own].filter((index) => cells[index]!.length > 0).length;
  if (filled < 3 || own.size < 4 || filled < own.size * 0.25) return null;
  // A frame around text in columns of its own is no cell of a table.
  const large = cells.filter((cell) => cell.length > 30).reduce((sum, cell) => sum + cell.length, 0);
  if (large > taken.size * (cells.some((cell) => cell.length === large) ? 0.4 : 0.8)) return null;
  const body: Run[][][] = Array.from({ length: rows }, (_, row) => cells.slice(row * columns, (row + 1) * columns));
  const text = body.flatMap((row) => splitRow(row, rows <= 2)).map((row) => row.map(cellText));
  const table = tidy(text);
  return table === null ? null : { table: { ...box, rows: table }, taken };
}

/** Without the rows and columns that say nothing; null when it is no table then. */
export function tidy(rows: readonly string[][]): string[][] | null {
  const said = rows.filter((row) => row.some((cell) => cell !== ""));
  const columns = (said[0] ?? []).map((_, index) => index).filter((index) => said.some((row) => row[index] !== ""));
  return said.length < 2 || columns.length < 2 ? null : said.map((row) => columns.map((index) => row[index]!));
}

/** The tables whose cells are parted by drawn lines. */
export function ruledTables(runs: readonly Run[], rules: Rules): Tabled {
  const tables: Table[] = [];
  let rest = [...runs];
  if (rules.across.length * rules.down.length > 1_000_000) return { tables, rest };
  const found = nets(rules).toSorted((a, b) => b.across.length + b.down.length - a.across.length - a.down.length);
  for (const net of found.slice(0, 100)) {
    const made = tableOf(net, rest);
    if (made === null) continue;
    tables.push({ ...around([made.table]), rows: made.table.rows });
    rest = rest.filter((run) => !made.taken.has(run));
  }
  return { tables, rest };
}
