import fc from "fast-check";
import { expect, test } from "vitest";
import { decodedLength } from "./base64.ts";

test("tells the length of any bytes", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      expect(decodedLength(Buffer.from(bytes).toString("base64"))).toBe(bytes.length);
    }),
  );
});

test.each(["!!!!", "AAA", "AA=A", "AAAA=", "A===", "====", "AA AA", "AAA\n", "AA-_", "=AAA"])(
  "%j is not base64",
  (text) => {
    expect(decodedLength(text)).toBeUndefined();
  },
);

test("nothing is no bytes", () => expect(decodedLength("")).toBe(0));
