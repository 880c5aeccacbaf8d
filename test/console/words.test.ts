import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseSync } from "vite";
import { expect, test } from "vitest";
import { MEDIA_TYPES } from "#events/mediaTypes.ts";
import { fileKind } from "../../console/format/fileKind.ts";

/* One word for one thing in what people read (docs/console.md, Words). */

const CONSOLE = join(import.meta.dirname, "../../console");
const files = readdirSync(CONSOLE, { recursive: true, encoding: "utf8" }).filter((file) =>
  /(?<!\.test)\.tsx?$/.test(file),
);

/** Texts of elements, and strings of several words: a single one is a name of the API. */
function proseOf(node: unknown): string[] {
  if (typeof node !== "object" || node === null) return [];
  const { type, value, tag } = node as { type?: string; value?: unknown; tag?: unknown };
  // patterns of what the API writes, as String.raw`…`
  if (tag) return [];
  if (type === "JSXText" && typeof value === "string") return [value.trim()];
  const text =
    type === "TemplateElement" ? (value as { cooked: string }).cooked : type === "Literal" ? value : undefined;
  if (typeof text === "string") return /[a-z] |[A-Z]\w+$/.test(text) ? [text] : [];
  return Object.values(node).flatMap(proseOf);
}

const prose = files.flatMap((file) => proseOf(parseSync(file, readFileSync(join(CONSOLE, file), "utf8")).program));

test("the console calls a turn a request, and pending items waiting", () => {
  expect(prose.filter((text) => /\brequests?\b/.test(text)).length).toBeGreaterThan(10);
  expect(prose.filter((text) => /\b(turns?|pending)\b/i.test(text) && !/\bturns? out\b/.test(text))).toEqual([]);
});

test("the console calls a thread a conversation", () => {
  expect(prose.filter((text) => /\bconversations?\b/i.test(text)).length).toBeGreaterThan(10);
  expect(prose.filter((text) => /\bthreads?\b/i.test(text))).toEqual([]);
});

test("no element shows the name of a component", () => {
  const textOf = (file: string) => readFileSync(join(CONSOLE, file), "utf8");
  const shown = files.flatMap((file) => textOf(file).match(/>(?:[A-Z][a-z]+){2,}</g) ?? []);
  expect(shown).toEqual([]);
});

test("every readable file type has a word", () => {
  const words = Object.values(MEDIA_TYPES).map((type) => [type, fileKind(type)]);
  expect(words.filter(([type, word]) => type === word)).toEqual([]);
  expect(fileKind(MEDIA_TYPES.pptx)).toBe("presentation");
  expect(fileKind(MEDIA_TYPES.docx)).toBe("Word document");
  expect(fileKind("application/x-unknown")).toBe("application/x-unknown");
});
