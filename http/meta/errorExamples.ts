import { readFileSync } from "node:fs";

/* Errors that a running service answered, for each operation. test/docs/errors.drill.test.ts takes them from it. */

/** By operation, by status, by code (`none`: it has no code). */
type ErrorExamples = Record<string, Record<string, Record<string, object>>>;

const FILE = new URL("./errors.json", import.meta.url);
const EXAMPLES = JSON.parse(readFileSync(FILE, "utf8")) as Readonly<ErrorExamples>;

export const readErrorExamples = (): Readonly<ErrorExamples> => EXAMPLES;
