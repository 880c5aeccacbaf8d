import { readFileSync } from "node:fs";

/* Real errors of each operation. test/docs/errors.drill.test.ts records them from a running service. */

export interface ErrorExamples {
  /** Bodies by name. */
  examples: Record<string, object>;
  /** By operation, by status: names of bodies. */
  operations: Record<string, Record<string, string[]>>;
}

const FILE = new URL("./errors.json", import.meta.url);

export const ERROR_EXAMPLES = JSON.parse(readFileSync(FILE, "utf8")) as Readonly<ErrorExamples>;
