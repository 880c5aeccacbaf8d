import { countUnreadHeaders, countLetters } from "../warnings.ts";
import { isTable } from "./blocks.ts";
import type { Table } from "./ruledTables.ts";
import type { TextLine } from "./textLine.ts";

interface PageLines {
  columns: readonly (TextLine | Table)[][];
  height: number;
}

/** Share of the page's height at its top and bottom that contains running heads and page numbers. */
const EDGE = 0.12;

/** Whether a line is in the area of running heads. `height`: of the page. */
export const isInHeadArea = (line: TextLine, height: number): boolean =>
  line.y1 < height * EDGE || line.y0 > height * (1 - EDGE);

/** The text without its numbers, which makes the running heads of different pages equal. */
const repeatKey = (line: TextLine): string =>
  line.raw
    .replace(/\d+|\b[ivxlc]+\b/gi, "#")
    .toLowerCase()
    .replace(/\s+/g, " ");

const NUMBER =
  /^(?:page|p\.|seite|página|pagina|-|–|—|\[|\|)?\s*(?:\d{1,5}|[ivxlc]{1,7})\s*(?:(?:of|\/|von|de|di|sur)\s*\d{1,5})?\s*(?:-|–|—|\]|\|)?$/i;

/** Minimum pages with a running head, for a document with this many pages. */
const minRepeats = (pages: number): number => (pages < 6 ? 2 : 3);

/** Running heads, running feet and page numbers: lines at the pages' edges that repeat on several pages. */
export function findRunningHeads(pages: readonly PageLines[]): Set<TextLine> {
  const pagesByKey = new Map<string, Set<number>>();
  const edges: { line: TextLine; page: number; key: string }[] = [];
  for (const [index, page] of pages.entries()) {
    for (const line of page.columns.flat()) {
      if (isTable(line) || !isInHeadArea(line, page.height)) continue;
      const key = `${Math.round(line.baseline / 8)}:${repeatKey(line)}`;
      edges.push({ line, page: index, key });
      const onPages = pagesByKey.get(key) ?? new Set();
      pagesByKey.set(key, onPages.add(index));
    }
  }
  const repeated = (key: string): boolean => (pagesByKey.get(key)?.size ?? 0) >= minRepeats(pages.length);
  const near = ({ key }: { key: string }): boolean => {
    const [row, text] = [Number(key.slice(0, key.indexOf(":"))), key.slice(key.indexOf(":"))];
    return [row - 1, row, row + 1].some((at) => repeated(`${at}${text}`));
  };
  const repeats = new Set(edges.filter(near).map(({ line }) => line));
  const found = new Set<TextLine>();
  const outer = new Set(edges.filter((edge) => isOutermost(edge.line, pages[edge.page]!)));
  const offset = pageNumberOffset([...outer], pages.length);
  for (const edge of edges) {
    const outermost = outer.has(edge);
    const numbered = offset !== null && outermost && offsets(edge.line, edge.page).includes(offset);
    if (numbered && edge.line.raw.length < 120) found.add(edge.line);
    else if (NUMBER.test(edge.line.raw) && outermost) found.add(edge.line);
    else if (
      repeats.has(edge.line) &&
      repeatKey(edge.line) !== "#" &&
      !isSentence(edge.line, pages[edge.page]!, repeats)
    )
      found.add(edge.line);
  }
  return found;
}

/** Maximum distance of two lines of a paragraph, as a multiple of their size. */
const MAX_LEADING = 0.8;

const follows = (line: TextLine, above: TextLine): boolean =>
  line.y0 - above.y1 < line.size * MAX_LEADING &&
  line.y0 > above.y0 &&
  Math.abs(line.size - above.size) < line.size * 0.05 &&
  /^\p{Ll}/u.test(line.raw);

/** Whether the line is part of a sentence of the page: contracts repeat clauses, sometimes at the start of a page. */
function isSentence(line: TextLine, page: PageLines, repeats: ReadonlySet<TextLine>): boolean {
  const column = page.columns.find((parts) => parts.includes(line)) ?? [];
  const at = column.indexOf(line);
  const [above, below] = [column[at - 1], column[at + 1]];
  const own = (part: TextLine | Table | undefined): part is TextLine =>
    part !== undefined && !isTable(part) && !repeats.has(part);
  return (own(below) && follows(below, line)) || (own(above) && follows(line, above));
}

/** Differences between the line's first or last number and the page's index; for page numbers the difference is constant. */
const offsets = (line: TextLine, page: number): number[] =>
  [/^\D{0,3}(\d{1,5})\b/.exec(line.raw), /\b(\d{1,5})\D{0,2}$/.exec(line.raw)].flatMap((found) =>
    found === null ? [] : [Number(found[1]) - page],
  );

/** The constant difference between page numbers and page indexes; null if there are no page numbers. */
function pageNumberOffset(edges: readonly { line: TextLine; page: number }[], pages: number): number | null {
  const counts = new Map<number, number>();
  for (const { line, page } of edges) {
    for (const offset of new Set(offsets(line, page))) counts.set(offset, (counts.get(offset) ?? 0) + 1);
  }
  const [best] = [...counts].toSorted((a, b) => b[1] - a[1]);
  return best !== undefined && best[1] >= Math.max(2, pages * 0.4) ? best[0] : null;
}

/** Whether it is the first or the last line. */
function isOutermost(line: TextLine, page: PageLines): boolean {
  let [above, below] = [0, 0];
  for (const other of page.columns.flat()) {
    if (other === line) continue;
    if (other.y1 <= line.y0 + 1) above++;
    else if (other.y0 >= line.y1 - 1) below++;
  }
  return above === 0 || below === 0 || above + below === 0;
}

/** Minimum share of the pages that show a document-wide running head, such as a letterhead; a chapter's is in its heading. */
const MIN_SHARE = 0.4;
/** Minimum length of numbers and addresses that are kept; page numbers are shorter. */
const FACT = /\d{4}|\d[\d ./-]{4,}\d|@|\bwww\./;
/** Maximum running heads of a document that are kept, because each is searched for in its text. */
const MAX_KEPT = 40;

const wordsOf = (text: string): string => text.replace(/\s+/g, " ").trim().toLowerCase();

/**
 * Running heads and feet with facts that the text lacks, such as the address and the account of a letterhead, by the index of the
 * first page that shows them. `heads`: those of each page.
 */
export function runningTexts(
  heads: readonly (readonly TextLine[])[],
  texts: readonly string[],
): Map<number, TextLine[]> {
  const found = new Map<string, { line: TextLine; page: number; pages: number }>();
  for (const [page, lines] of heads.entries()) {
    for (const [key, line] of new Map(lines.toReversed().map((one) => [repeatKey(one), one]))) {
      const same = found.get(key);
      if (same) same.pages++;
      else found.set(key, { line, page, pages: 1 });
    }
  }
  const often = [...found.values()].filter(
    ({ line, pages }) => pages >= heads.length * MIN_SHARE && FACT.test(line.raw),
  );
  if (often.length === 0) return new Map();
  const body = wordsOf(texts.join(" "));
  const kept = often.slice(0, MAX_KEPT).filter(({ line }) => !body.includes(wordsOf(line.text)));
  const inOrder = kept.toSorted((a, b) => a.line.y0 - b.line.y0);
  return new Map(
    [...Map.groupBy(inOrder, ({ page }) => page)].map(([page, own]) => [page, own.map(({ line }) => line)]),
  );
}

/** Minimum letters of a text at an angle; fewer are the mark on an axis. */
const MIN_ASIDE = 5;

/**
 * Divides the texts at other angles of each page: `own` belong to their page, `repeated` appear on several pages, like printers'
 * stamps in the margin.
 */
export const divideRotatedTexts = (
  pages: readonly (readonly TextLine[][])[],
): { own: TextLine[][][]; repeated: TextLine[][] } => {
  const keyOf = (lines: readonly TextLine[]): string => lines.map(repeatKey).join(" ");
  const counts = new Map<string, number>();
  for (const page of pages) for (const key of new Set(page.map(keyOf))) counts.set(key, (counts.get(key) ?? 0) + 1);
  const isRepeated = (lines: readonly TextLine[]): boolean => counts.get(keyOf(lines))! >= minRepeats(pages.length);
  const hasText = (lines: readonly TextLine[]): boolean =>
    countLetters(lines.map(({ raw }) => raw).join(" ")) >= MIN_ASIDE;
  return {
    own: pages.map((page) => page.filter((lines) => hasText(lines) && !isRepeated(lines))),
    repeated: pages.map((page) => page.filter(isRepeated).flat()),
  };
};

/** The number of running heads and feet whose text the document lacks; variants with other numbers count once. */
export const countMissingHeads = (heads: readonly (readonly TextLine[])[], texts: readonly string[]): number => {
  const different = new Map(heads.flat().map((line) => [repeatKey(line), wordsOf(line.raw)]));
  return countUnreadHeaders([...different.values()], () => wordsOf(texts.join(" ")));
};
