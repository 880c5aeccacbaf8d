import { alignedTables, framedTables } from "./aligned.ts";
import { linked, overlayOf } from "./annotations.ts";
import type { Block } from "./blocks.ts";
import { readingOrder } from "./columns.ts";
import type { Faces } from "./fonts.ts";
import { ruledTables, type Table } from "./grid.ts";
import { type Line, linesOf } from "./lines.ts";
import type { PdfPage } from "./open.ts";
import { rulesOf } from "./rules.ts";
import { type PageText, type Run, textOf, type TurnedRun } from "./runs.ts";
import { blocksByTags, type Node } from "./tagged.ts";
import { type TextLine, textLine } from "./textLine.ts";

/** A page by how it looks: its columns in the order of reading, each its lines and tables. */
export interface LaidPage {
  columns: (TextLine | Table)[][];
  height: number;
}

/** A page by its own structure. */
export interface TaggedPage {
  blocks: Block[];
}

export interface How {
  faces: Faces;
  /** Drawn lines are not looked at. */
  plain: boolean;
  /** Tags are looked at. */
  tagged: boolean;
}

const isRun = (part: Run | Table): part is Run => "text" in part;

/** The lines of a group, in order with the tables that stand among them. */
function partsOf(group: readonly (Run | Table)[], faces: Faces): (TextLine | Table)[] {
  const isCode = (line: Line): boolean => line.runs.some((run) => faces.face(run.font).mono);
  const tables = group.filter((part): part is Table => !isRun(part)).toSorted((a, b) => a.y0 - b.y0);
  let runs = group.filter(isRun);
  const parts: (TextLine | Table)[] = [];
  for (const table of [...tables, null]) {
    const above = (run: Run): boolean => table === null || run.baseline < (table.y0 + table.y1) / 2;
    for (const part of alignedTables(linesOf(runs.filter(above)), isCode)) {
      parts.push("rows" in part ? part : textLine(part, faces));
    }
    runs = runs.filter((run) => !above(run));
    if (table !== null) parts.push(table);
  }
  return parts;
}

/** Fake bold is the same text printed twice, a hair apart. */
const printedOnce = (runs: readonly Run[]): Run[] => {
  const seen = new Set<string>();
  return runs.filter((run) => {
    const key = `${run.text}\n${Math.round(run.x0 / 2)} ${Math.round(run.baseline / 2)}`;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
};

/** Fewer characters at an angle are a stamp at the margin or the axis of a figure. */
const FEWEST_TURNED = 100;

/** What stands at other angles, one column for each angle. */
function turnedParts(turned: readonly TurnedRun[], faces: Faces): TextLine[][] {
  const angles = Map.groupBy(turned, (one) => one.turn);
  return [...angles.values()].flatMap((same) => {
    const runs = same.map((one) => one.upright);
    const characters = runs.reduce((sum, run) => sum + run.text.length, 0);
    return characters < FEWEST_TURNED ? [] : [linesOf(runs).map((line) => textLine(line, faces))];
  });
}

async function layOut(page: PdfPage, text: PageText, faces: Faces, plain: boolean): Promise<LaidPage> {
  const rules = plain ? { across: [], down: [] } : await rulesOf(page, text.matrix);
  faces.learn(page, [...text.runs, ...text.turned.map((one) => one.upright)]);
  const aside = new Set(text.turned.map((one) => one.there));
  const ruled = ruledTables([...text.runs, ...aside], rules);
  const left = new Set(ruled.rest);
  const framed = framedTables(
    ruled.rest.filter((run) => !aside.has(run)),
    rules.across,
  );
  const groups = readingOrder<Run | Table>([...framed.rest, ...ruled.tables, ...framed.tables]);
  const turned = turnedParts(
    text.turned.filter((one) => left.has(one.there)),
    faces,
  );
  return { columns: [...groups.map((group) => partsOf(group, faces)), ...turned], height: text.height };
}

/** What stands on a page, by its tags where they are good and else by how it looks. */
export async function readPage(page: PdfPage, { faces, plain, tagged }: How): Promise<LaidPage | TaggedPage> {
  const found = await textOf(page);
  const { links, filled } = await overlayOf(page, found.matrix);
  const text = { ...found, runs: [...linked(printedOnce(found.runs), links), ...filled] };
  // What was filled into a form has no tags.
  const marked = tagged && filled.length === 0 && text.runs.some((run) => run.mark !== null);
  const tree = marked ? ((await page.getStructTree().catch(() => null)) as Node | null) : null;
  if (tree !== null && !plain && !faces.know(text.runs)) {
    await page.getOperatorList();
    faces.learn(page, text.runs);
  }
  const blocks = blocksByTags(tree, text.runs, faces);
  return blocks === null ? await layOut(page, text, faces, plain) : { blocks };
}
