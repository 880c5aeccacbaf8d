import fc from "fast-check";
import { expect, test } from "vitest";
import { cutPassages } from "./passages.ts";

const MOST = 1_200;
const words = (count: number, word = "word"): string =>
  Array.from({ length: count }, (_, n) => `${word}${n}`).join(" ");
const sentences = (count: number): string =>
  Array.from({ length: count }, (_, n) => `This is sentence number ${n} of the text.`).join(" ");
const NO_PAGES = { page_count: null, pages: null };
const paged = (pages: number[]) => ({ page_count: pages.length, pages });
const texts = (markdown: string, pages: number[] | null = null): string[] =>
  cutPassages(markdown, pages ? paged(pages) : NO_PAGES).map(({ start, end }) => markdown.slice(start, end));
const joinPages = (pages: string[]) => ({
  markdown: pages.join("\n\n"),
  lengths: pages.map((page, n) => page.length + (n < pages.length - 1 ? 2 : 0)),
});

const line = fc.oneof(
  fc.constantFrom(
    "",
    "",
    " ",
    "\t",
    "---",
    "===",
    "```",
    "~~~js",
    "| a | b |",
    "|---|---|",
    "| 1 | 2 |",
    "# Title",
    "### *Deep*",
  ),
  fc.constantFrom(
    "- item",
    "  - nested",
    "12. twelfth",
    "> quoted",
    "😀😀😀",
    "\r",
    "\u2003",
    "\0",
    "[a](b)",
    "####### no",
  ),
  fc.string({ unit: "grapheme", maxLength: 60 }),
  fc.integer({ min: 1, max: 900 }).map((count) => words(count)),
  fc.integer({ min: 1, max: 80 }).map(sentences),
  fc.integer({ min: 1, max: 4_000 }).map((count) => "漢😀".repeat(count)),
);
const page = fc.array(line, { maxLength: 40 }).map((lines) => lines.join("\n"));

test("passages cover the Markdown without a gap, are never blank or too long, and stay on their page", () => {
  fc.assert(
    fc.property(fc.array(page, { minLength: 1, maxLength: 5 }), (pages) => {
      const { markdown, lengths } = joinPages(pages);
      const passages = cutPassages(markdown, paged(lengths));
      expect(passages.map((passage) => markdown.slice(passage.start, passage.end)).join("")).toBe(
        markdown.trim() === "" ? "" : markdown,
      );
      expect(passages.map(({ seq }) => seq)).toEqual(passages.map((_, n) => n));
      for (const [n, { start, end, page, lead }] of passages.entries()) {
        const text = markdown.slice(start, end);
        expect(start).toBe(n === 0 ? 0 : passages[n - 1]!.end);
        expect(text.trim()).not.toBe("");
        expect(text.trim().length).toBeLessThanOrEqual(MOST * 1.25);
        expect(lead.length).toBeLessThanOrEqual(MOST);
        expect(text.isWellFormed() || !markdown.isWellFormed()).toBe(true);
        const from = lengths.slice(0, page! - 1).reduce((sum, length) => sum + length, 0);
        expect(markdown.slice(start, from).trim()).toBe("");
        expect(markdown.slice(from + lengths[page! - 1]!, end).trim()).toBe("");
      }
      expect(cutPassages(markdown, paged(lengths))).toEqual(passages);
    }),
    { numRuns: 300 },
  );
});

test("a heading starts a passage, and its plain text is part of the section path", () => {
  const markdown = [
    "Before any heading there is text, which is in no section at all, as it should be.",
    "# The **Guide**",
    "## 1. [Install](https://example.org) `svc` \\#1 ##",
    sentences(5),
    "### snake_case and _stress_",
    sentences(5),
    "Setext heading\n---",
    sentences(5),
  ].join("\n\n");
  const passages = cutPassages(markdown, NO_PAGES);
  expect(passages.map(({ section }) => section)).toEqual([
    null,
    "The Guide > 1. Install svc #1",
    "The Guide > 1. Install svc #1 > snake_case and stress",
    "The Guide > Setext heading",
  ]);
  expect(markdown.slice(passages[1]!.start)).toMatch(/^# The/);
  expect(passages.every(({ page, lead }) => page === null && lead === "")).toBe(true);
});

test("a heading inside a code fence is ignored, and the fence is not split", () => {
  const fence = `\`\`\`sh\n# not a heading\n\n${words(120)}\n\`\`\``;
  const markdown = `# Setup\n\n${sentences(15)}\n\n${fence}\n\n${sentences(20)}`;
  expect(texts(markdown).filter((text) => text.includes(fence))).toHaveLength(1);
  expect(cutPassages(markdown, NO_PAGES).every(({ section }) => section === "Setup")).toBe(true);
});

test("a long table is cut between rows, with its header as the lead of each passage", () => {
  const header = "| Region | Limit |\n| --- | ---: |";
  const rows = Array.from({ length: 120 }, (_, n) => `| Region number ${n} | ${n * 1_000} |`);
  const markdown = `${sentences(3)}\n\n${header}\n${rows.join("\n")}\n\n${sentences(3)}`;
  const passages = cutPassages(markdown, NO_PAGES);
  for (const row of rows) expect(texts(markdown).filter((text) => text.includes(row))).toHaveLength(1);
  expect(passages.length).toBeGreaterThan(2);
  expect(passages.slice(1).every(({ lead }) => lead === header)).toBe(true);
});

test("a list is cut between its items", () => {
  const items = Array.from({ length: 40 }, (_, n) => `- Item ${n}: ${words(12)}\n  and its second line`);
  const markdown = items.join("\n");
  for (const item of items) expect(texts(markdown).filter((text) => text.includes(item))).toHaveLength(1);
});

test("a long paragraph is cut after a sentence, and the end of each passage is the lead of the next one", () => {
  const markdown = sentences(100);
  const passages = cutPassages(markdown, NO_PAGES);
  for (const text of texts(markdown)) expect(text.trim()).toMatch(/^This is sentence .* of the text\.$/s);
  for (const [n, { lead }] of passages.slice(1).entries()) {
    expect(lead.length).toBeGreaterThan(100);
    expect(lead.length).toBeLessThanOrEqual(150);
    expect(texts(markdown)[n]!.trim().endsWith(lead)).toBe(true);
  }
});

test("text without sentences is cut at a space, and text without spaces between characters", () => {
  for (const text of texts(words(2_000))) expect(text).toMatch(/^word\d+( word\d+)* ?$/);
  for (const text of texts("😀".repeat(3_000))) expect(text).toMatch(/^(😀)+$/u);
});

test("a short rest joins the previous passage, and so does a heading at the end of a page", () => {
  const markdown = `${sentences(28)}\n\nA short end.`;
  expect(texts(markdown)).toEqual([markdown]);
  const pages = [`${sentences(5)}\n\n## Next`, sentences(5)];
  const { markdown: joined, lengths } = joinPages(pages);
  expect(cutPassages(joined, paged(lengths))).toMatchObject([
    { page: 1, section: null, start: 0, end: lengths[0] },
    { page: 2, section: "Next", start: lengths[0], end: joined.length },
  ]);
});

test("blank pages have no passages, and blank Markdown has none at all", () => {
  const { markdown, lengths } = joinPages(["", "One.", "  \n", "Two.", ""]);
  expect(cutPassages(markdown, paged(lengths)).map(({ page }) => page)).toEqual([2, 4]);
  expect(texts(markdown, lengths).join("")).toBe(markdown);
  expect(cutPassages(` \n\n\t${" ".repeat(5_000)}`, NO_PAGES)).toEqual([]);
  expect(cutPassages("", paged([0]))).toEqual([]);
});

test("tiny sections are joined into passages", () => {
  const markdown = Array.from({ length: 500 }, (_, n) => `# ${n}\n\nNo.`).join("\n\n");
  expect(cutPassages(markdown, NO_PAGES).length).toBeLessThan(100);
});

test("the headings of a slide do not apply to the next slide", () => {
  const { markdown, lengths } = joinPages([
    "# The deck\n\nWelcome to all of it.",
    "## First\n\nOne.",
    "Two.",
    "## Last\n\n### Part\n\nThree.",
  ]);
  const slides = { ...paged(lengths), slides: true as const };
  expect(cutPassages(markdown, slides).map(({ page, section }) => [page, section])).toEqual([
    [1, "The deck"],
    [2, "First"],
    [3, null],
    [4, "Last > Part"],
  ]);
  const unnumbered = cutPassages(markdown, { ...slides, page_count: null });
  expect(unnumbered.map(({ page, section }) => [page, section])).toContainEqual([null, "First"]);
});
