import { UnreadableFile } from "../reader.ts";
import { escapeTags } from "./plain.ts";

/** Maximum UTF-16 units of a table. The limit applies to the whole Markdown; it is checked here because a table can fill the memory. */
const MAX_LENGTH = 50_000_000;

/** The text of a cell on one line, with pipes and tags escaped. */
const escapeCell = (text: string): string =>
  escapeTags(text.trim().replace(/[^\S\n]+/g, " "))
    .replaceAll("|", "\\|")
    .replace(/ *\n\s*/g, "<br>");

const tableLine = (cells: readonly string[], width: number): string => {
  let row = "|";
  for (let at = 0; at < width; at += 1) row += ` ${escapeCell(cells[at] ?? "")} |`;
  return row;
};

/** A Markdown table with the first row as its header; short rows are padded. Throws UnreadableFile above 50 MB. */
export const markdownTable = (rows: Iterable<readonly string[]>, width: number): string => {
  const lines: string[] = [];
  let length = 0;
  for (const row of rows) {
    const rendered = tableLine(row, width);
    length += rendered.length;
    if (length > MAX_LENGTH) throw new UnreadableFile("The file contains more than 50 MB of text.");
    lines.push(rendered);
    if (lines.length === 1) lines.push(`|${" --- |".repeat(width)}`);
  }
  return lines.join("\n");
};
