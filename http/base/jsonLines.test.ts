import { expect, test, vi } from "vitest";
import { jsonLines } from "./jsonLines.ts";

test("a line with a long text is written and sent in pieces", async () => {
  const values = [{ n: 1 }, { text: '"x"'.repeat(1_000_000), at: new Date(0) }, { n: 2 }];
  const written = values.map((value) => `${JSON.stringify(value)}\n`).join("");
  const stringify = vi.spyOn(JSON, "stringify");
  const pieces: Buffer[] = [];
  for await (const piece of jsonLines(
    (async function* () {
      yield* values;
    })(),
  ))
    pieces.push(piece);
  const longest = Math.max(...stringify.mock.results.map(({ value }) => value.length));
  stringify.mockRestore();
  expect(Buffer.concat(pieces).toString()).toBe(written);
  expect(longest).toBeLessThan(200_000);
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(500_000);
});
