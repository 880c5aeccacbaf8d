import fc from "fast-check";
import { expect, test } from "vitest";
import { cleanFilename } from "./filename.ts";

test.each([
  ["report.pdf", "report.pdf"],
  ["../../etc/passwd", "passwd"],
  ["C:\\Users\\x\\a.txt", "a.txt"],
  ["/", ""],
  ["..", ""],
  ["", ""],
  ['a"\r\nX: y', 'a"X: y'],
  ["a\u0000b", "ab"],
  ["\u202egnp.exe", "gnp.exe"],
  ["e\u0301.txt", "\u00e9.txt"],
  ["CON", "CON"],
  ["🎉.png", "🎉.png"],
])("the filename %j becomes %j", (sent, shown) => expect(cleanFilename(sent)).toBe(shown));

test("a truncated filename keeps its extension", () => {
  const name = cleanFilename(`${"é".repeat(5_000)}.markdown`);
  expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255);
  expect(name.endsWith("é.markdown")).toBe(true);
});

test("no filename is over 255 bytes or contains a separator or an invisible character", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 300 }), (sent) => {
      const name = cleanFilename(sent);
      expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255);
      expect(name).not.toMatch(/[/\\\p{Cc}\u202a-\u202e]/u);
      expect(name.isWellFormed()).toBe(true);
    }),
    { numRuns: 40 },
  );
});
