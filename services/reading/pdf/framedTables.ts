import { isValue, readBorderlessTable } from "./borderlessTable.ts";
import { type Box, height, overlap } from "./geometry.ts";
import { groupLines, type Line } from "./lines.ts";
import type { Table } from "./ruledTables.ts";
import type { Rule } from "./rules.ts";
import type { TextRun } from "./runs.ts";
import { lineAbove } from "./tableHeader.ts";

interface Frame extends Box {
  rules: number;
}

/** Stacked rules of the same width. The text between the first and the last may be a typeset table. */
function findFrames(across: readonly Rule[]): Frame[] {
  const found: Frame[] = [];
  for (const rule of across) {
    if (rule.to - rule.from < 60) continue;
    const home = found.find((frame) => Math.abs(frame.x0 - rule.from) < 4 && Math.abs(frame.x1 - rule.to) < 4);
    if (home === undefined) found.push({ x0: rule.from, x1: rule.to, y0: rule.at, y1: rule.at, rules: 1 });
    else {
      home.y1 = rule.at;
      home.rules++;
    }
  }
  return found.filter((frame) => frame.rules >= 2 && height(frame) > 12);
}

/** Whether its rows have no labels: rules above and below sums are only under the values. */
const hasOnlyValues = ({ rows }: Table): boolean =>
  rows.filter(([first = ""]) => isValue(first.replace(/^[$€£¥] /, ""))).length > rows.length * 0.6;

const isInside = (run: TextRun, frame: Frame): boolean =>
  overlap(run.x0, run.x1, frame.x0 - 3, frame.x1 + 3) > 0.9 * (run.x1 - run.x0);

const isBetween = (run: TextRun, frame: Frame): boolean =>
  run.baseline > frame.y0 && run.baseline - run.size * 0.5 < frame.y1;

/** Tables with rules only above, below and under the header, or between the rows. */
export function framedTables(runs: readonly TextRun[], across: readonly Rule[]): { tables: Table[]; rest: TextRun[] } {
  const tables: Table[] = [];
  let rest = [...runs];
  for (const frame of findFrames(across)) {
    const beside = rest.filter((run) => isInside(run, frame));
    const inside = beside.filter((run) => isBetween(run, frame));
    const lines = groupLines(inside);
    if (lines.length < 2) continue;
    const higher = groupLines(beside.filter((run) => run.baseline <= frame.y0));
    let header: Line[] = [];
    const found = readBorderlessTable(lines, frame.rules >= 3, (gaps, hasHeader) => {
      header = hasHeader ? [] : lineAbove(higher, lines[0]!, gaps);
      return header;
    });
    if (found === null || hasOnlyValues(found.table)) continue;
    const used = new Set([...inside, ...header.flatMap((line) => line.runs)]);
    tables.push({ ...found.table, x0: frame.x0, x1: frame.x1 });
    rest = rest.filter((run) => !used.has(run));
  }
  return { tables, rest };
}
