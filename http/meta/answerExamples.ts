import { readFileSync } from "node:fs";

/* An example of each answer that is JSON, by the name of its schema. test/docs/answers.drill.test.ts takes them from a running service. */

const FILE = new URL("./answers.json", import.meta.url);
const EXAMPLES = JSON.parse(readFileSync(FILE, "utf8")) as Readonly<Record<string, unknown>>;

/** The example of a schema; of a list without one of its own, a page with the example of its items. */
export function readAnswerExample(name: string): unknown {
  const own = EXAMPLES[name];
  if (own !== undefined || !name.endsWith("List")) return own;
  const item = EXAMPLES[name.slice(0, -"List".length)];
  return item && { data: [item], total: 1, limit: 50, offset: 0 };
}
