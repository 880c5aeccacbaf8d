import { getResolvedPDFJS } from "unpdf";
import { at, type Box, type Matrix, times } from "./geometry.ts";
import type { PdfPage } from "./open.ts";

/** A straight line that is drawn on the page: `at` is where it stands, `from` and `to` how far it goes. */
export interface Rule {
  at: number;
  from: number;
  to: number;
}

export interface Rules {
  across: Rule[];
  down: Rule[];
}

/** Drawings have more lines than any table. */
const MOST_RULES = 4_000;
/** A filled box that is thinner is a line, in points. */
const THIN = 2.5;
const SHORTEST = 4;

const { OPS } = await getResolvedPDFJS();
const STROKES = new Set<number>([
  OPS.stroke,
  OPS.closeStroke,
  OPS.fillStroke,
  OPS.eoFillStroke,
  OPS.closeFillStroke,
  OPS.closeEOFillStroke,
]);
const FILLS = new Set<number>([OPS.fill, OPS.eoFill]);
/** How many numbers follow each drawing step of a path: moveTo, lineTo, curveTo, quadraticCurveTo, closePath. */
const STEP = [2, 2, 6, 4, 0];

type Segment = [number, number, number, number];

/** The straight segments of a path; null when it has too many or is no path. */
function segmentsOf(path: Float32Array): { lines: Segment[]; curved: boolean } {
  const lines: Segment[] = [];
  let [x, y, startX, startY] = [0, 0, 0, 0];
  let curved = false;
  for (let i = 0; i < path.length && lines.length < MOST_RULES; ) {
    const step = path[i]!;
    const length = STEP[step] ?? 0;
    const [toX, toY] = length === 0 ? [startX, startY] : [path[i + length - 1]!, path[i + length]!];
    if (step === 0) [startX, startY] = [toX, toY];
    else if (step === 1 || step === 4) lines.push([x, y, toX, toY]);
    else curved = true;
    [x, y] = [toX, toY];
    i += length + 1;
  }
  return { lines, curved };
}

const addLine = (rules: Rules, box: Box): void => {
  const [w, h] = [box.x1 - box.x0, box.y1 - box.y0];
  if (h <= THIN && w >= SHORTEST) rules.across.push({ at: (box.y0 + box.y1) / 2, from: box.x0, to: box.x1 });
  else if (w <= THIN && h >= SHORTEST) rules.down.push({ at: (box.x0 + box.x1) / 2, from: box.y0, to: box.y1 });
};

const boxOf = (matrix: Matrix, [ax, ay, bx, by]: Segment): Box => {
  const [x, y] = at(matrix, ax, ay);
  const [toX, toY] = at(matrix, bx, by);
  return { x0: Math.min(x, toX), y0: Math.min(y, toY), x1: Math.max(x, toX), y1: Math.max(y, toY) };
};

function addPath(rules: Rules, matrix: Matrix, args: readonly unknown[]): void {
  const [paint, [path] = [], extent] = args as [number, Float32Array[]?, Float32Array?];
  if (STROKES.has(paint) && path instanceof Float32Array) {
    const { lines } = segmentsOf(path);
    for (const line of lines) addLine(rules, boxOf(matrix, line));
  } else if (FILLS.has(paint) && path instanceof Float32Array && extent != null) {
    const [x0, y0, x1, y1] = extent as unknown as Segment;
    const whole = boxOf(matrix, [x0, y0, x1, y1]);
    if (whole.x1 - whole.x0 <= THIN || whole.y1 - whole.y0 <= THIN) return addLine(rules, whole);
    // Several thin boxes may be filled as one path.
    const { lines, curved } = segmentsOf(path);
    if (curved || lines.length < 8 || lines.length % 4 !== 0) return;
    for (let i = 0; i < lines.length; i += 4) {
      addLine(rules, boxOf(matrix, [lines[i]![0], lines[i]![1], lines[i + 1]![2], lines[i + 1]![3]]));
    }
  }
}

/** The lines that a page draws across and down, in the coordinates that `matrix` leads to. */
export async function rulesOf(page: PdfPage, matrix: Matrix): Promise<Rules> {
  const operators = await page.getOperatorList();
  const rules: Rules = { across: [], down: [] };
  const saved: Matrix[] = [];
  let now = matrix;
  for (const [index, operator] of operators.fnArray.entries()) {
    const args = operators.argsArray[index] as unknown[];
    if (operator === OPS.save) saved.push(now);
    else if (operator === OPS.restore) now = saved.pop() ?? matrix;
    else if (operator === OPS.transform) now = times(now, args as unknown as Matrix);
    else if (operator === OPS.paintFormXObjectBegin) {
      saved.push(now);
      if (args[0] != null) now = times(now, Array.from(args[0] as ArrayLike<number>) as unknown as Matrix);
    } else if (operator === OPS.paintFormXObjectEnd) now = saved.pop() ?? matrix;
    else if (operator === OPS.constructPath) addPath(rules, now, args);
    if (rules.across.length + rules.down.length > MOST_RULES) break;
  }
  return { across: joined(rules.across), down: joined(rules.down) };
}

/** Dashes and doubled lines made one. */
function joined(rules: readonly Rule[]): Rule[] {
  const kept: Rule[] = [];
  for (const rule of rules.toSorted((a, b) => a.at - b.at || a.from - b.from)) {
    let home: Rule | undefined;
    for (let i = kept.length - 1; i >= 0 && rule.at - kept[i]!.at <= 1.8; i--) {
      if (rule.from - kept[i]!.to <= 3 && kept[i]!.from - rule.to <= 3) home = kept[i];
    }
    if (home === undefined) kept.push({ ...rule });
    else {
      home.from = Math.min(home.from, rule.from);
      home.to = Math.max(home.to, rule.to);
    }
  }
  return kept;
}
