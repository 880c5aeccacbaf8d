import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { decodedLength } from "./base64.ts";

test("the decoded length of base64 is that of its bytes", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      expect(decodedLength(Buffer.from(bytes).toString("base64"))).toBe(bytes.length);
    }),
  );
});

test.each([
  "!!!!",
  "AAA",
  "AA=A",
  "AAAA=",
  "A===",
  "====",
  "AA AA",
  "AAA\n",
  "AA-_",
  "=AAA",
  "\u0141AAA",
  "AA\u0141=",
  "\u00c1AAA",
  "AA\u00ff=",
  "AA==AAAA",
])("%j has no decoded length, because it is not strict base64", (text) => {
  expect(decodedLength(text)).toBeUndefined();
});

test("the decoded length of an empty text is 0", () => expect(decodedLength("")).toBe(0));

test("padding without its zero bits is taken", () => expect(decodedLength("AB==")).toBe(1));

test("a long text is checked to its end, across slices", () => {
  const text = randomBytes(3 * 1024 * 1024).toString("base64");
  expect(decodedLength(text)).toBe(3 * 1024 * 1024);
  for (const at of [1, 1024 * 1024 - 1, 1024 * 1024, text.length - 5])
    for (const wrong of ["!", "=", " ", "\n", "-", "_"])
      expect(decodedLength(text.slice(0, at) + wrong + text.slice(at + 1))).toBeUndefined();
});

test("the largest text does not hold up the process", () => {
  const text = randomBytes(25 * 1024 * 1024).toString("base64");
  const before = process.cpuUsage();
  expect(decodedLength(text)).toBe(25 * 1024 * 1024);
  expect(process.cpuUsage(before).user).toBeLessThan(100_000);
});
