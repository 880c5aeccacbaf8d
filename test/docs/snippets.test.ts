import { readFileSync } from "node:fs";
import { glob } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript-5";
import { expect, test } from "vitest";
import { openPeople } from "../accounts/people.ts";

/*
 * Snippets of pages that no other test runs: code of workflows and tools fits the published types, JSON is JSON, and a search is
 * accepted. Requests are run by examples.test.ts, lines for a shell by test/workflows/readme.drill.test.ts.
 */

const root = fileURLToPath(new URL("../..", import.meta.url));
const TYPES = join(root, "examples/workflow.d.ts");
const PAGES = await Array.fromAsync(glob("docs/{,guides/}*.md", { cwd: root }));

const blocksOf = (page: string, language: string): string[] =>
  [...readFileSync(join(root, page), "utf8").matchAll(/^```(\w*)\n([^]*?)^```/gm)]
    .filter(([, name]) => name === language)
    .map(([, , text = ""]) => text);
const all = (language: string) =>
  PAGES.flatMap((page) => blocksOf(page, language).map((text, n) => ({ name: `${page}, ${n + 1}`, text })));

/** Surrounds a fragment, which is from the function `run` or from a step. */
const FRAME = `import type { RunContext, StepContext } from "svc:workflow";
declare const ctx: RunContext & StepContext, args: any, toCsv: (text: string) => string;
export async function fragment() {\n`;

const toModule = (text: string): string =>
  /^export /m.test(text)
    ? text.replace("run(ctx, ", 'run(ctx: import("svc:workflow").RunContext, ')
    : `${FRAME}${text}}`;

/** The compiler's messages about a snippet as a module. */
function findMistakes(text: string): string[] {
  const file = join(root, "examples/snippet.ts");
  const options = {
    noEmit: true,
    target: ts.ScriptTarget.ES2024,
    module: ts.ModuleKind.ESNext,
    lib: ["lib.esnext.d.ts", "lib.dom.d.ts"],
    types: [],
    skipLibCheck: true,
  };
  const host = ts.createCompilerHost(options);
  const read = host.readFile.bind(host);
  const exists = host.fileExists.bind(host);
  const source = toModule(text);
  host.readFile = (path) => (path === file ? source : read(path));
  host.fileExists = (path) => path === file || exists(path);
  host.getSourceFile = (path, target) => {
    const content = host.readFile(path);
    return content === undefined ? undefined : ts.createSourceFile(path, content, target);
  };
  return ts
    .getPreEmitDiagnostics(ts.createProgram([TYPES, file], options, host))
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, " "));
}

test.each(all("ts"))("the code in $name fits the published types", ({ text }) => {
  expect(findMistakes(text)).toEqual([]);
});

test("the functions of svc:workflow are also globals for an editor", () => {
  const waits = 'await sleep("1s", { key: "a" });\nreturn complete({ at: now("end"), id: uuid("id") });';
  expect(findMistakes(waits)).toEqual([]);
  expect(findMistakes("const double = defineStep({ retries: 1 }, (n: number) => 2 * n);\nlog(double);")).toEqual([]);
  expect(findMistakes("await sleep({});")).not.toEqual([]);
});

test("the check finds wrong code in a snippet", () => {
  expect(findMistakes('await ctx.runSteps("refund");')).toEqual([expect.stringContaining("'runSteps' does not exist")]);
  expect(findMistakes("export async function run(ctx, { seen }) {\n  return ctx.continueAs(seen + 1, 2);\n}")).toEqual([
    expect.stringContaining("Expected 0-1 arguments"),
  ]);
  expect(findMistakes("const answer = ;")).not.toEqual([]);
});

test.each(all("json"))("the JSON in $name is valid", ({ text }) => {
  const body = text.replace(/^(GET|POST|PUT|PATCH) \S+\n/, "");
  expect(Object.keys(JSON.parse(body) as object)).not.toEqual([]);
});

test("the search in docs/search.md is accepted", async () => {
  const searches = blocksOf("docs/search.md", "json").filter((text) => text.includes('"query"'));
  expect(searches).toHaveLength(1);
  const { api, service } = await openPeople();
  const answer = await fetch(`${api}/v1/knowledge/search`, {
    method: "POST",
    headers: { authorization: `Bearer ${service.credentials.api_key}`, "content-type": "application/json" },
    body: searches[0]!,
  });
  expect(await answer.json()).toMatchObject({ results: [] });
  expect(answer.status).toBe(200);
});
