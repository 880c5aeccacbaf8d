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

test.each(["!!!!", "AAA", "AA=A", "AAAA=", "A===", "====", "AA AA", "AAA\n", "AA-_", "=AAA"])(
  "%j has no decoded length, because it is not strict base64",
  (text) => {
    expect(decodedLength(text)).toBeUndefined();
  },
);

test("the decoded length of an empty text is 0", () => expect(decodedLength("")).toBe(0));
