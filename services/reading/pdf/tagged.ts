import type { Block } from "./blocks.ts";
import type { Faces } from "./fonts.ts";
import { linesInOrder } from "./lines.ts";
import type { Run } from "./runs.ts";
import { type TextLine, textLine } from "./textLine.ts";

/** A node of pdf.js's structure tree: an element of the document, or content by its mark's id. */
export interface Node {
  role?: string;
  type?: string;
  id?: string;
  alt?: string;
  children?: Node[];
}

const DEEPEST = 60;
/** Of a page's characters that the tree must reach for it to be believed. */
const COVERED = 0.85;

const LEVEL: Record<string, number> = { Title: 1, H: 2, H1: 1, H2: 2, H3: 3, H4: 4, H5: 5, H6: 6 };
const PARAGRAPHS = new Set([
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
const OWN = new Set([...PARAGRAPHS, ...Object.keys(LEVEL), "L", "Table", "Figure"]);

interface Walk {
  runs: ReadonlyMap<string, Run[]>;
  faces: Faces;
  blocks: Block[];
  /** Footnotes, for the page's end. */
  notes: Block[];
}

/** The runs of an element, and the elements in it that are blocks of their own. */
function contentOf(node: Node, walk: Walk, depth = 0): { runs: Run[]; nested: Node[] } {
  const runs: Run[] = [];
  const nested: Node[] = [];
  for (const child of node.children ?? []) {
    if (child.type === "content") runs.push(...(walk.runs.get(child.id ?? "") ?? []));
    else if (OWN.has(child.role ?? "") && child.role !== "P") nested.push(child);
    else if (depth < DEEPEST) {
      const inner = contentOf(child, walk, depth + 1);
      runs.push(...inner.runs);
      nested.push(...inner.nested);
    }
  }
  return { runs, nested };
}

const linesOf = (runs: readonly Run[], walk: Walk): TextLine[] =>
  linesInOrder(runs).map((line) => textLine(line, walk.faces));

const labelOf = (runs: readonly Run[]): string => {
  const label = runs
    .map((run) => run.text)
    .join("")
    .trim();
  const number = /^\(?(\d{1,9})[.)]?$/.exec(label)?.[1];
  if (number !== undefined) return `${number}.`;
  return /^\(?\w{1,6}[.)]$/.test(label) ? `- ${label}` : "-";
};

function addList(list: Node, walk: Walk, level: number): void {
  for (const item of list.children ?? []) {
    if (item.role === "L" && level < DEEPEST) addList(item, walk, level + 1);
    if (item.role !== "LI") continue;
    const label = (item.children ?? []).filter((child) => child.role === "Lbl");
    const body = { children: (item.children ?? []).filter((child) => child.role !== "Lbl") };
    const { runs, nested } = contentOf(body, walk);
    const lines = linesOf(runs, walk);
    const marker = label.length > 0 ? labelOf(contentOf({ children: label }, walk).runs) : null;
    if (lines.length > 0) walk.blocks.push({ kind: "item", depth: lines[0]!.x0, marker, lines });
    for (const node of nested) {
      if (node.role === "L") addList(node, walk, level + 1);
      else add(node, walk, level + 1);
    }
  }
}

interface Cell {
  text: string;
  x: number;
}

const rowsIn = (node: Node, depth = 0): Node[] =>
  (node.children ?? []).flatMap((child) => {
    if (child.role === "TR") return [child];
    return depth < 4 && child.role !== "Table" ? rowsIn(child, depth + 1) : [];
  });

const isCell = (node: Node): boolean => node.role === "TD" || node.role === "TH";

/** Every run below an element, of whatever kind. */
const allRuns = (node: Node, walk: Walk, depth = 0): Run[] =>
  node.type === "content"
    ? (walk.runs.get(node.id ?? "") ?? [])
    : (node.children ?? []).flatMap((child) => (depth < DEEPEST ? allRuns(child, walk, depth + 1) : []));

/** Rows that are short of cells have some that span: each goes where the fullest row has a cell at that place. */
function square(rows: readonly Cell[][]): string[][] {
  const fullest = rows.reduce((a, b) => (b.length > a.length ? b : a), []);
  return rows.map((row) => {
    if (row.length === fullest.length || row.some((cell) => cell.text === "")) return row.map((cell) => cell.text);
    const cells = fullest.map(() => "");
    let from = 0;
    for (const [index, cell] of row.entries()) {
      const last = fullest.length - (row.length - index);
      let best = from;
      for (let at = from; at <= last; at++) {
        if (Math.abs(fullest[at]!.x - cell.x) < Math.abs(fullest[best]!.x - cell.x)) best = at;
      }
      cells[best] = cell.text;
      from = best + 1;
    }
    return cells;
  });
}

function addTable(table: Node, walk: Walk): void {
  const rows = rowsIn(table).map((row) =>
    (row.children ?? []).filter(isCell).map((cell): Cell => {
      const runs = allRuns(cell, walk);
      const text = linesOf(runs, walk)
        .map((line) => line.raw)
        .join("\n");
      return { text, x: Math.min(...runs.map((run) => run.x0)) };
    }),
  );
  const said = square(rows).filter((row) => row.some((cell) => cell !== ""));
  if (said.length > 0) walk.blocks.push({ kind: "table", rows: said });
  for (const child of (table.children ?? []).filter((one) => one.role === "Caption")) add(child, walk, 0);
}

function add(node: Node, walk: Walk, depth: number): void {
  const role = node.role ?? "";
  if (depth > DEEPEST) return;
  if (role === "L") return addList(node, walk, 0);
  if (role === "Table") return addTable(node, walk);
  const level = LEVEL[role];
  if (level === undefined && !PARAGRAPHS.has(role) && role !== "Figure") {
    return addAll(node, walk, depth);
  }
  const { runs, nested } = contentOf(node, walk);
  const lines = linesOf(runs, walk);
  if (role === "Figure" && node.alt !== undefined && node.alt.trim() !== "") {
    walk.blocks.push({ kind: "figure", alt: node.alt.trim().replace(/\s+/g, " ") });
  }
  if (lines.length > 0) {
    if (level !== undefined) walk.blocks.push({ kind: "heading", level, lines });
    else if (role === "Note" || role === "FENote") walk.notes.push({ kind: "text", lines });
    else walk.blocks.push({ kind: role === "Code" || lines.every((line) => line.mono) ? "code" : "text", lines });
  }
  for (const child of nested) add(child, walk, depth + 1);
}

/** The elements of a container; text that stands in none of them is a paragraph. */
function addAll(node: Node, walk: Walk, depth: number): void {
  let loose: Run[] = [];
  const close = (): void => {
    if (loose.length > 0) walk.blocks.push({ kind: "text", lines: linesOf(loose, walk) });
    loose = [];
  };
  for (const child of node.children ?? []) {
    if (child.type === "content") loose.push(...(walk.runs.get(child.id ?? "") ?? []));
    else if (child.role === "Span" || child.role === "Link") loose.push(...contentOf(child, walk).runs);
    else {
      close();
      add(child, walk, depth + 1);
    }
  }
  close();
}

const idsIn = (node: Node, into: Set<string>, depth = 0): void => {
  if (node.type === "content" && node.id !== undefined) into.add(node.id);
  if (depth < DEEPEST * 2) for (const child of node.children ?? []) idsIn(child, into, depth + 1);
};

/** A tree that calls the whole page one paragraph, or every line one, says nothing. */
const saysSomething = (blocks: readonly Block[]): boolean => {
  const texts = blocks.filter((block) => block.kind === "text");
  const lines = texts.reduce((sum, block) => sum + block.lines.length, 0);
  const longest = Math.max(0, ...texts.map((block) => block.lines.length));
  if (lines > 20 && longest > lines * 0.6) return false;
  const broken = texts.filter((block) => /\p{Ll}[-‐,]?$/u.test(block.lines.at(-1)!.raw)).length;
  return !(texts.length > 12 && lines < texts.length * 1.25 && broken > texts.length * 0.5);
};

/** A page by the structure that its author's program gave it; null where that covers too little of the text. */
export function blocksByTags(tree: Node | null, runs: readonly Run[], faces: Faces): Block[] | null {
  if (tree === null) return null;
  const ids = new Set<string>();
  idsIn(tree, ids);
  const marked = new Map<string, Run[]>();
  let [all, reached] = [0, 0];
  for (const run of runs) {
    if (run.artifact) continue;
    all += run.text.length;
    if (run.mark === null || !ids.has(run.mark)) continue;
    reached += run.text.length;
    const same = marked.get(run.mark) ?? [];
    same.push(run);
    marked.set(run.mark, same);
  }
  if (all === 0 || reached < all * COVERED) return null;
  const walk: Walk = { runs: marked, faces, blocks: [], notes: [] };
  addAll(tree, walk, 0);
  return saysSomething(walk.blocks) ? [...walk.blocks, ...walk.notes] : null;
}
