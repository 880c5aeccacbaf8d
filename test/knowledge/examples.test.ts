import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openLibrary } from "./library.ts";

/* The questions in examples/README.md find their answers. */

const examples = join(import.meta.dirname, "../../examples");
const readme = readFileSync(join(examples, "README.md"), "utf8");
const rows = [...readme.matchAll(/^\| `(.+?)` \|.*\| (.+\?) \((.+)\) \|$/gm)].map(
  ([, name = "", question = "", reference = ""]) => ({ name, question, reference }),
);

const library = await openLibrary();
const slug = await library.collect("Handbook");
await Promise.all(rows.map(({ name }) => library.keep(slug, { content: readFileSync(join(examples, name)), name })));

test.each(rows)(
  'the first result for the example question "$question" is in $name',
  async ({ name, question, reference }) => {
    const { results } = (await library.search({ query: question })).body;
    expect([results[0].document.name, results[0].passages[0].reference]).toEqual([name, reference]);
  },
);

test("examples/README.md has a question for each example file", () => {
  expect(rows.map(({ name }) => name)).toEqual(["handbook.pdf", "handbook.docx", "handbook.pptx"]);
});
