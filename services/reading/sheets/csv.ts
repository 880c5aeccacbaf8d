import { decodeText } from "../text/charset.ts";
import { cleanLines } from "../text/lines.ts";
import { escapePlain } from "../text/plain.ts";
import { markdownTable } from "../text/table.ts";
import { delimiterOf, recordsOf, type Delimiter } from "./records.ts";

/** Excel's way of saying the delimiter. */
const HINT = /^sep=([\t;|,])\n/i;

const filled = (record: string[]): string[] => record.filter((field) => field.trim() !== "");

/** A line of one field above a table of three columns or more is its title. */
const isTitle = (record: string[], width: number): boolean => width > 2 && filled(record).length === 1;

function* rowsOf(text: string, delimiter: Delimiter, columns: number[]): Generator<string[]> {
  for (const record of recordsOf(text, delimiter)) {
    if (filled(record).length > 0) yield columns.map((column) => record[column] ?? "");
  }
}

/** Delimited text as one table, without its empty rows and columns; read twice, so that it is never held as cells. */
const tableOf = (text: string, delimiter: Delimiter): string => {
  const used = new Set<number>();
  for (const record of recordsOf(text, delimiter)) {
    for (const [column, field] of record.entries()) if (field.trim() !== "") used.add(column);
  }
  const columns = [...used].toSorted((one, other) => one - other);
  const rows = rowsOf(text, delimiter, columns);
  const titles: string[] = [];
  let first = rows.next();
  for (; !first.done && isTitle(first.value, columns.length); first = rows.next()) titles.push(filled(first.value)[0]!);
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

/** CSV of any delimiter and encoding: a table whose header is the first row. */
export const readCsv = async (bytes: Uint8Array): Promise<string[]> => {
  const text = cleanLines(decodeText(bytes));
  const hint = HINT.exec(text);
  const rest = hint ? text.slice(hint[0].length) : text;
  return [tableOf(rest, hint ? (hint[1] as Delimiter) : delimiterOf(rest))];
};

export const readTsv = async (bytes: Uint8Array): Promise<string[]> => [tableOf(cleanLines(decodeText(bytes)), "\t")];
