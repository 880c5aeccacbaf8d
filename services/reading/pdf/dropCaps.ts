import { height, overlap } from "./geometry.ts";
import type { TextRun } from "./runs.ts";

/** Size of a drop cap, as a multiple of the text's. */
const MIN_SIZE = 1.8;
/** Distance to the text beside it, as a multiple of the text's size. */
const MAX_GAP = 1.2;

/** The first of the lines beside a drop cap: the highest text close to its right. */
function firstBeside(cap: TextRun, runs: readonly TextRun[]): TextRun | undefined {
  const beside = runs.filter(
    (run) =>
      run.size * MIN_SIZE <= cap.size &&
      run.x0 >= cap.x0 &&
      run.x0 - cap.x1 < run.size * MAX_GAP &&
      overlap(run.y0, run.y1, cap.y0, cap.y1) > 0.5 * height(run),
  );
  const lines = new Set(beside.map((run) => Math.round(run.baseline)));
  // a large letter of a heading is beside one line only
  return lines.size < 2
    ? undefined
    : beside.reduce((a, b) => (b.baseline < a.baseline - 1 || (b.baseline < a.baseline + 1 && b.x0 < a.x0) ? b : a));
}

/** The runs with each drop cap at the start of its first line, in that line's size. */
export function placeDropCaps(runs: readonly TextRun[]): TextRun[] {
  return runs.map((run) => {
    if (!/^["“„«]?\p{Lu}$/u.test(run.text.trim())) return run;
    const first = firstBeside(run, runs);
    if (first === undefined) return run;
    const { baseline, y0, y1, size, x0 } = first;
    return { ...run, text: run.text.trim(), baseline, y0, y1, size, x0: Math.min(run.x0, x0 - 1), x1: x0 };
  });
}
