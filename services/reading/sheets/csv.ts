import { decodeText } from "../text/charset.ts";
import { cleanLines } from "../text/lines.ts";
import { escapePlain } from "../text/plain.ts";
import { markdownTable } from "../text/table.ts";
import { detectDelimiter, parseRecords, type Delimiter } from "./records.ts";

/** Excel's line that declares the delimiter. */
const HINT = /^sep=([^\n"])\n/i;

const filledFields = (record: string[]): string[] => record.filter((field) => field.trim() !== "");

/** A record of one field above a table of three or more columns is a title. */
const isTitle = (record: string[], width: number): boolean => width > 2 && filledFields(record).length === 1;

function* tableRows(text: string, delimiter: Delimiter, columns: number[]): Generator<string[]> {
  for (const record of parseRecords(text, delimiter)) {
    if (filledFields(record).length > 0) yield columns.map((column) => record[column] ?? "");
  }
}

/** Converts delimited text to a table without empty rows and columns. Parses it twice to avoid holding all cells in memory. */
const toTable = (text: string, delimiter: Delimiter): string => {
  const used = new Set<number>();
  for (const record of parseRecords(text, delimiter)) {
    for (const [column, field] of record.entries()) if (field.trim() !== "") used.add(column);
  }
  const columns = [...used].toSorted((one, other) => one - other);
  const rows = tableRows(text, delimiter, columns);
  const titles: string[] = [];
  let first = rows.next();
  for (; !first.done && isTitle(first.value, columns.length); first = rows.next())
    titles.push(filledFields(first.value)[0]!);
  const header = first.done ? [] : [first.value];
  const table = markdownTable(
    (function* () {
      yield* header;
      yield* rows;
    })(),
    columns.length,
  );
  return [...titles.map(escapePlain), table].filter(Boolean).join("\n\n");
};

/** Reads CSV of any delimiter and encoding as a table; its first row is the header. */
export const readCsv = async (bytes: Uint8Array): Promise<string[]> => {
  const text = cleanLines(decodeText(bytes));
  const hint = HINT.exec(text);
  const rest = hint ? text.slice(hint[0].length) : text;
  return [toTable(rest, hint?.[1] ?? detectDelimiter(rest))];
};

export const readTsv = async (bytes: Uint8Array): Promise<string[]> => [toTable(cleanLines(decodeText(bytes)), "\t")];
