import { alignedTables } from "./alignedTables.ts";
import type { AnnotationBudget } from "./annotationLimits.ts";
import { framedTables } from "./framedTables.ts";
import { addLinks, drawnFields, readAnnotations, readOverlay } from "./annotations.ts";
import { addBoxes } from "./boxes.ts";
import { placeDropCaps } from "./dropCaps.ts";
import { readingOrder } from "./columns.ts";
import type { FontStyles } from "./fontStyles.ts";
import { ruledTables, type Table } from "./ruledTables.ts";
import { type Line, groupLines } from "./lines.ts";
import type { PdfPage } from "./openPdf.ts";
import type { Layers } from "./layers.ts";
import { findPictures, type PagePictures } from "./pagePictures.ts";
import { readRules, type Rules } from "./rules.ts";
import { type PageText, type TextRun, readText, type RotatedRun } from "./runs.ts";
import { blocksByTags, type StructureNode, type TaggedContent } from "./tagged.ts";
import { type TextLine, toTextLine } from "./textLine.ts";

export interface PageDefects {
  /** Whether it has more text than was read. */
  isCut: boolean;
  /** Whether its fonts lack a map to characters. */
  isSymbols: boolean;
  /** The annotations that were not read. */
  unreadAnnotations?: { comments: boolean; files: boolean; choices: boolean };
  /** Whether layers that are switched off contain text. */
  hasHidden?: boolean;
  /** Pictures with possibly unread text. */
  pictures?: PagePictures | null;
  /** Text at other angles outside of its columns, with the lines of each angle: labels of axes, stamps in the margin. */
  aside?: TextLine[][];
}

/** A page read by its layout: columns in reading order, each with its lines and tables. */
export interface LaidOutPage extends PageDefects {
  columns: (TextLine | Table)[][];
  height: number;
}

/** A page read by its tags. */
export interface TaggedPage extends PageDefects, TaggedContent {}

export interface PageOptions {
  fonts: FontStyles;
  /** Leaves out lines, pictures and fonts, because the operators that draw the pages cost too much. */
  isTextOnly: boolean;
  /** Uses the tags. */
  tagged: boolean;
  /** The budget of the file's annotations. */
  budget: AnnotationBudget;
  layers: Layers;
}

const isRun = (part: TextRun | Table): part is TextRun => "text" in part;

/** The lines and tables of a group, from top to bottom. */
function groupParts(group: readonly (TextRun | Table)[], fonts: FontStyles): (TextLine | Table)[] {
  const isCode = (line: Line): boolean => line.runs.some((run) => fonts.styleOf(run.font).mono);
  const tables = group.filter((part): part is Table => !isRun(part)).toSorted((a, b) => a.y0 - b.y0);
  let runs = group.filter(isRun);
  const parts: (TextLine | Table)[] = [];
  for (const table of [...tables, null]) {
    const above = (run: TextRun): boolean => table === null || run.baseline < (table.y0 + table.y1) / 2;
    for (const part of alignedTables(groupLines(runs.filter(above)), isCode)) {
      parts.push("rows" in part ? part : toTextLine(part, fonts));
    }
    runs = runs.filter((run) => !above(run));
    if (table !== null) parts.push(table);
  }
  return parts;
}

/** Drops the second copy of fake bold: the same text printed twice, less than a point apart. */
const dropDoublePrint = (runs: readonly TextRun[]): TextRun[] => {
  const seen = new Set<string>();
  return runs.filter((run) => {
    const key = `${run.text}\n${Math.round(run.x0 / 2)} ${Math.round(run.baseline / 2)}`;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
};

/** Minimum characters of a column at an angle; fewer are a stamp in the margin or the axis label of a figure. */
const MIN_ROTATED = 100;

/** Text at other angles: the lines of each angle. */
function rotatedLines(rotated: readonly RotatedRun[], fonts: FontStyles): TextLine[][] {
  const angles = Map.groupBy(rotated, (one) => one.turn);
  return [...angles.values()].map((same) =>
    groupLines(same.map((one) => one.upright)).map((line) => toTextLine(line, fonts)),
  );
}

const isColumn = (lines: readonly TextLine[]): boolean =>
  lines.reduce((sum, line) => sum + line.raw.length, 0) >= MIN_ROTATED;

/** Finds the tables of a page, and puts them and the runs into reading order. Runs at other angles are only part of ruled tables. */
function findGroups(upright: readonly TextRun[], rules: Rules, rotated: ReadonlySet<TextRun> = new Set()) {
  const ruled = ruledTables([...upright, ...rotated], rules);
  const framed = framedTables(
    ruled.rest.filter((run) => !rotated.has(run)),
    rules.across,
  );
  const groups = readingOrder<TextRun | Table>([...framed.rest, ...ruled.tables, ...framed.tables]);
  return { groups, outsideTables: new Set(ruled.rest) };
}

async function readByLayout(
  page: PdfPage,
  text: PageText,
  { fonts, isTextOnly, layers }: Pick<PageOptions, "fonts" | "isTextOnly" | "layers">,
): Promise<LaidOutPage> {
  const rules = isTextOnly ? { across: [], down: [] } : await readRules(page, { matrix: text.matrix, layers });
  fonts.addFrom(page, [...text.runs, ...text.rotated.map((one) => one.upright)]);
  const { groups, outsideTables } = findGroups(text.runs, rules, new Set(text.rotated.map((one) => one.onPage)));
  const rotated = rotatedLines(
    text.rotated.filter((one) => outsideTables.has(one.onPage)),
    fonts,
  );
  const { height, isCut, isSymbols } = text;
  const columns = [...groups.map((group) => groupParts(group, fonts)), ...rotated.filter(isColumn)];
  return { columns, height, isCut, isSymbols, aside: rotated.filter((lines) => !isColumn(lines)) };
}

/** Lays out a page whose text and lines come from text recognition instead of PDF operators. */
export function layOut(
  runs: readonly TextRun[],
  { height, rules }: { height: number; rules: Rules },
  fonts: FontStyles,
): LaidOutPage {
  const { groups } = findGroups(runs, rules);
  return { columns: groups.map((group) => groupParts(group, fonts)), height, isCut: false, isSymbols: false };
}

/** Reads a page by its tags if they are usable, else by its layout. */
export async function readPage(
  page: PdfPage,
  { fonts, isTextOnly: isTextOnlyFile, tagged, budget, layers }: PageOptions,
): Promise<LaidOutPage | TaggedPage> {
  // pdf.js parses the annotations before it returns operators or tags: once their budget is spent, neither may be requested
  const isBudgetSpent = budget.isSpent;
  const isTextOnly = isTextOnlyFile || isBudgetSpent;
  const { annotations, isCut } = await readAnnotations(page, budget);
  const { signatures, buttons } = drawnFields(annotations);
  const found = await readText(page, {
    isTextOnly,
    isBudgetSpent,
    shown: new Set([...signatures, ...buttons]),
    layers,
  });
  const { links, filled, boxes, hasComments, hasFiles, hasOpenChoices } = readOverlay(annotations, found.matrix);
  const unreadAnnotations = { comments: hasComments, files: hasFiles, choices: hasOpenChoices };
  const runs = placeDropCaps(dropDoublePrint(found.runs));
  const text = { ...found, isCut: isCut || found.isCut, runs: [...addBoxes(addLinks(runs, links), boxes), ...filled] };
  // form field values and signatures have no tags
  const marked =
    tagged && !isBudgetSpent && filled.length + signatures.length === 0 && text.runs.some((run) => run.mark !== null);
  const tree = marked ? ((await page.getStructTree().catch(() => null)) as StructureNode | null) : null;
  if (tree !== null && !isTextOnly && !fonts.hasAll(text.runs)) {
    await page.getOperatorList();
    fonts.addFrom(page, text.runs);
  }
  const content = blocksByTags(tree, text.runs, { fonts, height: text.height });
  const read = content
    ? { ...content, isCut: text.isCut, isSymbols: text.isSymbols, aside: rotatedLines(text.rotated, fonts) }
    : await readByLayout(page, text, { fonts, isTextOnly, layers });
  const pictures = isTextOnly ? null : await findPictures(page, found, layers);
  return { ...read, unreadAnnotations, pictures, hasHidden: found.hasHidden };
}
