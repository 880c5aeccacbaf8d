/** The lines of each table in a Markdown text. */
export const tableLines = (markdown: string): string[][] =>
  (markdown.match(/(?:^\|.*\|$\n?)+/gm) ?? []).map((table) => table.trim().split("\n"));

/** The cells of a line. */
export const splitLine = (line: string): string[] =>
  line
    .slice(1, -1)
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim());
