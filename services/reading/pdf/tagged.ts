import type { Block } from "./blocks.ts";
import type { FontStyles } from "./fontStyles.ts";
import { groupLines, linesInOrder } from "./lines.ts";
import { isInHeadArea } from "./runningHeads.ts";
import type { TextRun } from "./runs.ts";
import { alignRows, type Cell } from "./taggedRows.ts";
import { type TextLine, toTextLine } from "./textLine.ts";

/** A node of pdf.js's structure tree: an element, or marked content by its id. */
export interface StructureNode {
  role?: string;
  type?: string;
  id?: string;
  alt?: string;
  children?: StructureNode[];
}

const MAX_DEPTH = 60;
/** Minimum share of a page's characters that the tree must contain to be used. */
const MIN_COVERAGE = 0.85;

const HEADING_LEVELS: Record<string, number> = { Title: 1, H: 2, H1: 1, H2: 2, H3: 3, H4: 4, H5: 5, H6: 6 };
const PARAGRAPH_ROLES = new Set([
  "P",
  "Caption",
  "BlockQuote",
  "Quote",
  "Note",
  "FENote",
  "TOCI",
  "BibEntry",
  "Formula",
  "Code",
  "Index",
]);
const BLOCK_ROLES = new Set([...PARAGRAPH_ROLES, ...Object.keys(HEADING_LEVELS), "L", "Table", "Figure"]);

interface Walk {
  runs: ReadonlyMap<string, TextRun[]>;
  fonts: FontStyles;
  blocks: Block[];
  /** Footnotes, which are moved to the page's end. */
  notes: Block[];
}

/** The runs of an element, and its inner elements that are themselves blocks. */
function elementContent(node: StructureNode, walk: Walk, depth = 0): { runs: TextRun[]; nested: StructureNode[] } {
  const runs: TextRun[] = [];
  const nested: StructureNode[] = [];
  for (const child of node.children ?? []) {
    if (child.type === "content") runs.push(...(walk.runs.get(child.id ?? "") ?? []));
    else if (BLOCK_ROLES.has(child.role ?? "") && child.role !== "P") nested.push(child);
    else if (depth < MAX_DEPTH) {
      const inner = elementContent(child, walk, depth + 1);
      runs.push(...inner.runs);
      nested.push(...inner.nested);
    }
  }
  return { runs, nested };
}

const toTextLines = (runs: readonly TextRun[], walk: Walk): TextLine[] =>
  linesInOrder(runs).map((line) => toTextLine(line, walk.fonts));

const toMarker = (runs: readonly TextRun[]): string => {
  const label = runs
    .map((run) => run.text)
    .join("")
    .trim();
  const number = /^\(?(\d{1,9})[.)]?$/.exec(label)?.[1];
  if (number !== undefined) return `${number}.`;
  return /^\(?\w{1,6}[.)]$/.test(label) ? `- ${label}` : "-";
};

function addList(list: StructureNode, walk: Walk, level: number): void {
  for (const item of list.children ?? []) {
    if (item.role === "L" && level < MAX_DEPTH) addList(item, walk, level + 1);
    if (item.role !== "LI") continue;
    const label = (item.children ?? []).filter((child) => child.role === "Lbl");
    const body = { children: (item.children ?? []).filter((child) => child.role !== "Lbl") };
    const { runs, nested } = elementContent(body, walk);
    const lines = toTextLines(runs, walk);
    const marker = label.length > 0 ? toMarker(elementContent({ children: label }, walk).runs) : null;
    if (lines.length > 0) walk.blocks.push({ kind: "item", depth: lines[0]!.x0, marker, lines });
    for (const node of nested) {
      if (node.role === "L") addList(node, walk, level + 1);
      else addElement(node, walk, level + 1);
    }
  }
}

const rowsIn = (node: StructureNode, depth = 0): StructureNode[] =>
  (node.children ?? []).flatMap((child) => {
    if (child.role === "TR") return [child];
    return depth < 4 && child.role !== "Table" ? rowsIn(child, depth + 1) : [];
  });

const isCell = (node: StructureNode): boolean => node.role === "TD" || node.role === "TH";

/** All runs of an element and its descendants. */
const allRuns = (node: StructureNode, walk: Walk, depth = 0): TextRun[] =>
  node.type === "content"
    ? (walk.runs.get(node.id ?? "") ?? [])
    : (node.children ?? []).flatMap((child) => (depth < MAX_DEPTH ? allRuns(child, walk, depth + 1) : []));

function addTable(table: StructureNode, walk: Walk): void {
  const rows = rowsIn(table).map((row) =>
    (row.children ?? []).filter(isCell).map((cell): Cell => {
      const runs = allRuns(cell, walk);
      const text = toTextLines(runs, walk)
        .map((line) => line.raw)
        .join("\n");
      return { text, x: Math.min(...runs.map((run) => run.x0)) };
    }),
  );
  const filled = alignRows(rows).filter((row) => row.some((cell) => cell !== ""));
  if (filled.length > 0) walk.blocks.push({ kind: "table", rows: filled });
  for (const child of (table.children ?? []).filter((one) => one.role === "Caption")) addElement(child, walk, 0);
}

function addElement(node: StructureNode, walk: Walk, depth: number): void {
  const role = node.role ?? "";
  if (depth > MAX_DEPTH) return;
  if (role === "L") return addList(node, walk, 0);
  if (role === "Table") return addTable(node, walk);
  const level = HEADING_LEVELS[role];
  if (level === undefined && !PARAGRAPH_ROLES.has(role) && role !== "Figure") {
    return addContainer(node, walk, depth);
  }
  const { runs, nested } = elementContent(node, walk);
  const lines = toTextLines(runs, walk);
  if (role === "Figure" && node.alt !== undefined && node.alt.trim() !== "") {
    walk.blocks.push({ kind: "figure", alt: node.alt.trim().replace(/\s+/g, " ") });
  }
  if (lines.length > 0) {
    if (level !== undefined) walk.blocks.push({ kind: "heading", level, lines });
    else if (role === "Note" || role === "FENote") walk.notes.push({ kind: "text", lines });
    else walk.blocks.push({ kind: role === "Code" || lines.every((line) => line.mono) ? "code" : "text", lines });
  }
  for (const child of nested) addElement(child, walk, depth + 1);
}

/** Adds the elements of a container; text outside all of them becomes a paragraph. */
function addContainer(node: StructureNode, walk: Walk, depth: number): void {
  let loose: TextRun[] = [];
  const close = (): void => {
    if (loose.length > 0) walk.blocks.push({ kind: "text", lines: toTextLines(loose, walk) });
    loose = [];
  };
  for (const child of node.children ?? []) {
    if (child.type === "content") loose.push(...(walk.runs.get(child.id ?? "") ?? []));
    else if (child.role === "Span" || child.role === "Link") loose.push(...elementContent(child, walk).runs);
    else {
      close();
      addElement(child, walk, depth + 1);
    }
  }
  close();
}

const collectIds = (node: StructureNode, into: Set<string>, depth = 0): void => {
  if (node.type === "content" && node.id !== undefined) into.add(node.id);
  if (depth < MAX_DEPTH * 2) for (const child of node.children ?? []) collectIds(child, into, depth + 1);
};

/** A tree is useless if it contains the whole page as one paragraph, or each line as one. */
const isPlausible = (blocks: readonly Block[]): boolean => {
  const texts = blocks.filter((block) => block.kind === "text");
  const lines = texts.reduce((sum, block) => sum + block.lines.length, 0);
  const longest = Math.max(0, ...texts.map((block) => block.lines.length));
  if (lines > 20 && longest > lines * 0.6) return false;
  const broken = texts.filter((block) => /\p{Ll}[-‐,]?$/u.test(block.lines.at(-1)!.raw)).length;
  return !(texts.length > 12 && lines < texts.length * 1.25 && broken > texts.length * 0.5);
};

/** A page's content by its tags. */
export interface TaggedContent {
  blocks: Block[];
  /** Text that the tags exclude from the content, such as running heads. */
  heads: TextLine[];
}

/**
 * The blocks of a page by its tags; null if they contain too little of the text or are implausible. Text without a tag, such as a
 * stamp or a form field's value, follows them.
 */
export function blocksByTags(
  tree: StructureNode | null,
  runs: readonly TextRun[],
  { fonts, height }: { fonts: FontStyles; height: number },
): TaggedContent | null {
  if (tree === null) return null;
  const ids = new Set<string>();
  collectIds(tree, ids);
  const marked = new Map<string, TextRun[]>();
  const artifacts: TextRun[] = [];
  const loose: TextRun[] = [];
  let [characters, covered] = [0, 0];
  for (const run of runs) {
    if (run.artifact) {
      artifacts.push(run);
      continue;
    }
    characters += run.text.length;
    if (run.mark === null || !ids.has(run.mark)) {
      loose.push(run);
      continue;
    }
    covered += run.text.length;
    const same = marked.get(run.mark) ?? [];
    same.push(run);
    marked.set(run.mark, same);
  }
  if (characters === 0 || covered < characters * MIN_COVERAGE) return null;
  const walk: Walk = { runs: marked, fonts, blocks: [], notes: [] };
  addContainer(tree, walk, 0);
  if (!isPlausible(walk.blocks)) return null;
  const left = groupLines(loose).map((line) => toTextLine(line, fonts));
  const heads = [
    ...groupLines(artifacts).map((line) => toTextLine(line, fonts)),
    ...left.filter((line) => isInHeadArea(line, height)),
  ];
  const rest = left
    .filter((line) => !isInHeadArea(line, height))
    .map((line): Block => ({ kind: "text", lines: [line] }));
  return { blocks: [...walk.blocks, ...rest, ...walk.notes], heads };
}
