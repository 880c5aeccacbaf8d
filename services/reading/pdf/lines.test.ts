import { expect, test } from "vitest";
import { groupLines, lineText, linesInOrder } from "./lines.ts";
import type { TextRun } from "./runs.ts";

const run = (text: string, x0: number, { size = 10, baseline = 100 } = {}): TextRun => ({
  text,
  x0,
  x1: x0 + text.length * size * 0.5,
  y0: baseline - size * 0.75,
  y1: baseline + size * 0.22,
  baseline,
  size,
  font: "f",
  spaced: false,
  mark: null,
  artifact: false,
  link: null,
});

/** Reads of the positions and sizes of runs while they are grouped. */
function countReads(group: (runs: readonly TextRun[]) => unknown, runs: readonly TextRun[]): number {
  let reads = 0;
  const counted = runs.map(
    (one) =>
      new Proxy(one, {
        get: (target, name) => {
          reads += 1;
          return Reflect.get(target, name) as unknown;
        },
      }),
  );
  group(counted);
  return reads;
}

type Word = [text: string, baseline: number, size: number];

const WORD: Word = ["word", 100, 10];

test.each<[string, (runs: readonly TextRun[]) => unknown, (at: number) => Word]>([
  ["words", groupLines, () => WORD],
  ["words in reading order", linesInOrder, () => WORD],
  ["signs of a right-to-left script", groupLines, (at) => [at % 2 === 0 ? "שלום" : "-", 100, 10]],
  ["small words above others", groupLines, (at) => (at % 2 === 0 ? ["w", 94.5, 5] : WORD)],
])("twice as many %s in one line take little more than twice the work", (_, group, wordAt) => {
  const line = (count: number): TextRun[] =>
    Array.from({ length: count }, (_word, at) => {
      const [text, baseline, size] = wordAt(at);
      return run(text, at * 25, { baseline, size });
    });
  expect(countReads(group, line(4_000)) / countReads(group, line(2_000))).toBeLessThan(2.3);
});

test("a line has the position of its longest text, and the runs are ordered from left to right", () => {
  const runs = [run("(2)", 60, { baseline: 97 }), run("second", 30, { baseline: 101 }), run("longer", 0)];
  const [line, ...others] = groupLines(runs);
  expect(others).toEqual([]);
  expect(line).toMatchObject({ x0: 0, x1: 75, baseline: 100, size: 10 });
  expect(line?.runs.map(({ text }) => text)).toEqual(["longer", "second", "(2)"]);
});

test("small text belongs to a line only if all of it touches the line", () => {
  const words = [run("energy", 0), run("mass", 40)];
  const raised = (...places: number[]): TextRun[] => places.map((x) => run("2", x, { size: 5, baseline: 94.5 }));
  expect(groupLines([...words, ...raised(30, 60)]).map((line) => lineText(line))).toEqual(["energy² mass²"]);
  expect(groupLines([...words, run("rest", 200), ...raised(30, 120)]).map(({ runs }) => runs.length)).toEqual([2, 3]);
});
