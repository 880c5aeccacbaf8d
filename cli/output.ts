/** Aligned rows of two or more columns. */
export function formatTable(rows: string[][]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

export const print = (text: string): void => void process.stdout.write(`${text}\n`);
/** Prints a line for people on stderr, because programs may read stdout. */
export const printLine = (text: string): void => void process.stderr.write(`${text}\n`);
export const printJson = (value: unknown): void => print(JSON.stringify(value, null, 2));

/** C0 and C1 controls, and characters that change the text direction: terminals act on them. */
// oxlint-disable-next-line no-control-regex
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** The text as one line that is safe to print in a terminal. */
export const escapeControls = (text: string): string =>
  text.replace(UNPRINTABLE, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** The first line of a longer text. */
export const firstLine = (text: string): string => escapeControls(text.split("\n", 1)[0]!);
