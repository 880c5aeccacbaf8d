import { readFileSync } from "node:fs";

/* Errors that a running service answered, for each operation. test/docs/errors.drill.test.ts takes them from it. */

export interface ErrorExamples {
  /** Bodies by name. */
  examples: Record<string, object>;
  /** By operation, by status: names of bodies. */
  operations: Record<string, Record<string, string[]>>;
}

const FILE = new URL("./errors.json", import.meta.url);

export const ERROR_EXAMPLES = JSON.parse(readFileSync(FILE, "utf8")) as Readonly<ErrorExamples>;
