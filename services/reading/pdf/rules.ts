import { transformPoint, type Box, type Matrix } from "./geometry.ts";
import type { PdfPage } from "./openPdf.ts";
import { OPS, type PageView, visitOperators } from "./operators.ts";

/** A drawn horizontal or vertical line: `at` is its position, `from` and `to` its extent, in points. */
export interface Rule {
  at: number;
  from: number;
  to: number;
}

export interface Rules {
  /** Horizontal. */
  across: Rule[];
  /** Vertical. */
  down: Rule[];
}

/** Maximum lines of a page; a drawing has more than any table. */
const MAX_RULES = 4_000;
/** Maximum thickness of a filled box that counts as a line, in points. */
const MAX_THICKNESS = 2.5;
/** In points. */
const MIN_LENGTH = 4;

const STROKES = new Set<number>([
  OPS.stroke,
  OPS.closeStroke,
  OPS.fillStroke,
  OPS.eoFillStroke,
  OPS.closeFillStroke,
  OPS.closeEOFillStroke,
]);
const FILLS = new Set<number>([OPS.fill, OPS.eoFill]);
/** Operands of each path operator: moveTo, lineTo, curveTo, quadraticCurveTo, closePath. */
const OPERAND_COUNTS = [2, 2, 6, 4, 0];

type Segment = [number, number, number, number];

/** The straight segments of a path, and whether it also has curves. */
function pathSegments(path: Float32Array): { lines: Segment[]; curved: boolean } {
  const lines: Segment[] = [];
  let [x, y, startX, startY] = [0, 0, 0, 0];
  let curved = false;
  for (let i = 0; i < path.length && lines.length < MAX_RULES; ) {
    const step = path[i]!;
    const length = OPERAND_COUNTS[step] ?? 0;
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
  if (h <= MAX_THICKNESS && w >= MIN_LENGTH) rules.across.push({ at: (box.y0 + box.y1) / 2, from: box.x0, to: box.x1 });
  else if (w <= MAX_THICKNESS && h >= MIN_LENGTH)
    rules.down.push({ at: (box.x0 + box.x1) / 2, from: box.y0, to: box.y1 });
};

const segmentBox = (matrix: Matrix, [ax, ay, bx, by]: Segment): Box => {
  const [x, y] = transformPoint(matrix, ax, ay);
  const [toX, toY] = transformPoint(matrix, bx, by);
  return { x0: Math.min(x, toX), y0: Math.min(y, toY), x1: Math.max(x, toX), y1: Math.max(y, toY) };
};

function addPath(rules: Rules, matrix: Matrix, args: readonly unknown[]): void {
  const [paint, [path] = [], extent] = args as [number, Float32Array[]?, Float32Array?];
  if (STROKES.has(paint) && path instanceof Float32Array) {
    const { lines } = pathSegments(path);
    for (const line of lines) addLine(rules, segmentBox(matrix, line));
  } else if (FILLS.has(paint) && path instanceof Float32Array && extent != null) {
    const [x0, y0, x1, y1] = extent as unknown as Segment;
    const whole = segmentBox(matrix, [x0, y0, x1, y1]);
    if (whole.x1 - whole.x0 <= MAX_THICKNESS || whole.y1 - whole.y0 <= MAX_THICKNESS) return addLine(rules, whole);
    // one path may fill several thin boxes
    const { lines, curved } = pathSegments(path);
    if (curved || lines.length < 8 || lines.length % 4 !== 0) return;
    for (let i = 0; i < lines.length; i += 4) {
      addLine(rules, segmentBox(matrix, [lines[i]![0], lines[i]![1], lines[i + 1]![2], lines[i + 1]![3]]));
    }
  }
}

/** The horizontal and vertical lines of a page. */
export async function readRules(page: PdfPage, view: PageView): Promise<Rules> {
  const rules: Rules = { across: [], down: [] };
  // the frames of form fields and notes are not lines of tables
  let annotations = 0;
  await visitOperators(page, view, (operator, args, current, isHidden) => {
    if (operator === OPS.beginAnnotation) annotations++;
    else if (operator === OPS.endAnnotation) annotations--;
    else if (operator === OPS.constructPath && annotations === 0 && !isHidden) addPath(rules, current, args);
    return rules.across.length + rules.down.length <= MAX_RULES;
  });
  return { across: mergeRules(rules.across), down: mergeRules(rules.down) };
}

/** Merges dashes and double lines. */
export function mergeRules(rules: readonly Rule[]): Rule[] {
  const merged: Rule[] = [];
  for (const rule of rules.toSorted((a, b) => a.at - b.at || a.from - b.from)) {
    let home: Rule | undefined;
    for (let i = merged.length - 1; i >= 0 && rule.at - merged[i]!.at <= 1.8; i--) {
      if (rule.from - merged[i]!.to <= 3 && merged[i]!.from - rule.to <= 3) home = merged[i];
    }
    if (home === undefined) merged.push({ ...rule });
    else {
      home.from = Math.min(home.from, rule.from);
      home.to = Math.max(home.to, rule.to);
    }
  }
  return merged;
}
