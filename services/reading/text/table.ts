import { UnreadableFile } from "../reader.ts";

/** A limit of all Markdown; tables reach it first, and are stopped before they fill the memory. */
const MAX_LENGTH = 50_000_000;

const TAG = /<(?=[a-z/!?])/gi;

/** Text of a cell: one line, with nothing in it that would end the cell or hide a word. */
const escapeCell = (text: string): string =>
  text
    .trim()
    .replace(/[^\S\n]+/g, " ")
    .replace(TAG, "\\<")
    .replaceAll("|", "\\|")
    .replace(/ *\n\s*/g, "<br>");

const line = (cells: readonly string[], width: number): string => {
  let row = "|";
  for (let at = 0; at < width; at += 1) row += ` ${escapeCell(cells[at] ?? "")} |`;
  return row;
};

/** A table, its first row the header; short rows are filled up. Throws UnreadableFile above 50 MB. */
export const markdownTable = (rows: Iterable<readonly string[]>, width: number): string => {
  const lines: string[] = [];
  let length = 0;
  for (const row of rows) {
    const written = line(row, width);
    length += written.length;
    if (length > MAX_LENGTH) throw new UnreadableFile("The file contains more than 50 MB of text.");
    lines.push(written);
    if (lines.length === 1) lines.push(`|${" --- |".repeat(width)}`);
  }
  return lines.join("\n");
};
