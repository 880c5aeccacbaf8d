import fc from "fast-check";
import { expect, test } from "vitest";
import { cutWindow } from "./window.ts";

/** Passages of these lengths, cut from one text. */
const cut = (lengths: number[]) => {
  let start = 0;
  const passages = lengths.map((length, seq) => ({ seq, start, end: (start += length) }));
  const markdown = lengths.map((length, n) => String.fromCodePoint(97 + n).repeat(length)).join("");
  return { markdown, passages };
};

test("windows follow each other to the end and are the whole document", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 50_000 }), { minLength: 1, maxLength: 12 }), (lengths) => {
      const { markdown, passages } = cut(lengths);
      const texts: string[] = [];
      for (let from: number | null = 0; from !== null; ) {
        const window: ReturnType<typeof cutWindow> = cutWindow(markdown, passages.slice(from));
        if (!window) throw new Error("there is a passage, but no window");
        expect(window.text.length).toBeLessThanOrEqual(Math.max(40_000, lengths[from]!));
        texts.push(window.text);
        from = window.next_seq;
      }
      expect(texts.join("")).toBe(markdown);
    }),
  );
});

test("a window holds as many passages as fit", () => {
  const { markdown, passages } = cut([20_000, 20_000, 1, 1]);
  expect(cutWindow(markdown, passages)).toEqual({
    text: markdown.slice(0, 40_000),
    seq: 0,
    start: 0,
    end: 40_000,
    next_seq: 2,
  });
  expect(cutWindow(markdown, passages.slice(2))).toEqual({
    text: markdown.slice(40_000),
    seq: 2,
    start: 40_000,
    end: 40_002,
    next_seq: null,
  });
});

test("there is no window after the end", () => expect(cutWindow("a", [])).toBeUndefined());
