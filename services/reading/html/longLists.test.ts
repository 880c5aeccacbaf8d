import { expect, test } from "vitest";
import { htmlToMarkdown } from "./readHtml.ts";

/** Entries of arrays that are copied, moved or searched while a page is converted. */
function countSteps(html: string): number {
  let steps = 0;
  const all = Array.prototype;
  const { indexOf, splice, [Symbol.iterator]: values } = all;
  all.indexOf = function (entry: unknown, from?: number) {
    const found = Reflect.apply(indexOf, this, [entry, from]);
    steps += found === -1 ? this.length : found;
    return found;
  };
  all.splice = function (...given: unknown[]) {
    steps += this.length - Number(given[0]);
    return Reflect.apply(splice, this, given);
  };
  all[Symbol.iterator] = function () {
    steps += this.length;
    return Reflect.apply(values, this, []);
  };
  try {
    htmlToMarkdown(html);
  } finally {
    Object.assign(all, { indexOf, splice, [Symbol.iterator]: values });
  }
  return steps;
}

test.each([
  ["entries of a list", (n: number) => `<ul>${"<li>an entry</li>".repeat(n)}</ul>`],
  ["entries on lines of their own", (n: number) => `<ul>\n${"<li>\nan entry\n</li>\n".repeat(n)}</ul>`],
  ["paragraphs on lines of their own", (n: number) => "<p>a</p>\n<!-- b -->\n".repeat(n)],
  ["numbered entries", (n: number) => `<ol>${"<li>an entry</li>".repeat(n)}</ol>`],
  ["entries that are lists themselves", (n: number) => `<ul>${"<li><ul><li>an entry</li></ul></li>".repeat(n)}</ul>`],
  ["bold pieces in a row", (n: number) => `<p>${"<b><code>a</code></b>".repeat(n)}</p>`],
  ["words in elements of their own", (n: number) => `<p>${"<span>word</span> ".repeat(n)}</p>`],
  ["terms and descriptions", (n: number) => `<dl>${"<dt>a</dt><dd>b</dd>".repeat(n)}</dl>`],
])("twice as many %s take only twice the work", (_, page) => {
  expect(countSteps(page(800)) / countSteps(page(400))).toBeLessThan(2.2);
});

test("item numbers continue from the start value of a list", () => {
  expect(htmlToMarkdown("<ol start=3><li>a<li>b<ol><li>c<li>d</ol><li>e</ol>")).toBe(
    "3. a\n4. b\n   1. c\n   2. d\n5. e",
  );
  expect(htmlToMarkdown("<ol start=-5><li>a<li>b</ol>")).toBe("1. a\n2. b");
});
