import type { TextRun } from "./runs.ts";

/** Maximum points between a box and its label. */
const MAX_GAP = 40;
/** Maximum overlap of a box and its label, in points. */
const MAX_OVERLAP = 3;

const isNear = (gap: number): boolean => gap >= -MAX_OVERLAP && gap <= MAX_GAP;

interface Signs {
  before: TextRun[];
  after: TextRun[];
}

/** The label of a box: the text on its right, else that on its left. */
function findLabel(box: TextRun, runs: readonly TextRun[]): { label: TextRun; side: keyof Signs } | null {
  let found: { label: TextRun; side: keyof Signs; gap: number } | null = null;
  for (const label of runs) {
    if (Math.abs(label.baseline - box.baseline) > Math.max(label.size, box.size) * 0.6) continue;
    const [right, left] = [label.x0 - box.x1, box.x0 - label.x1];
    const side = isNear(right) ? "before" : "after";
    const gap = side === "before" ? right : left + MAX_GAP * 2;
    if ((isNear(right) || isNear(left)) && (found === null || gap < found.gap)) found = { label, side, gap };
  }
  return found;
}

/** Adds the marks of boxes beside their labels, so that they are read with the labels' tags. */
export function addBoxes(runs: readonly TextRun[], boxes: readonly TextRun[]): TextRun[] {
  if (boxes.length === 0) return [...runs];
  const signs = new Map<TextRun, Signs>();
  const alone: TextRun[] = [];
  for (const box of boxes) {
    const found = findLabel(box, runs);
    if (found === null) {
      alone.push(box);
      continue;
    }
    const { label, side } = found;
    const own = signs.get(label) ?? { before: [], after: [] };
    own[side].push({ ...box, mark: label.mark, artifact: label.artifact });
    signs.set(label, own);
  }
  const placed = runs.flatMap((run) => {
    const { before, after } = signs.get(run) ?? { before: [], after: [] };
    return [...before, run, ...after];
  });
  return [...placed, ...alone];
}
