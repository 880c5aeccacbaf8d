import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ApiError } from "./errors.ts";
import { parseJsonBody } from "./json.ts";

const bytes = (text: string) => Buffer.from(text);

describe("parsing a JSON body", () => {
  test("gives what JSON.parse gives", () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        fc.pre(!/__proto__|constructor/.test(text));
        expect(parseJsonBody(bytes(text))).toEqual(JSON.parse(text));
      }),
    );
  });

  test.each([
    "",
    "{",
    "nul",
    '{"a":1,}',
    '{"__proto__":{}}',
    '{"\\u005f_proto__":{}}',
    '{"a":{"constructor":{"prototype":{}}}}',
  ])("refuses %j", (text) => {
    expect(() => parseJsonBody(bytes(text))).toThrow(ApiError);
  });

  test("accepts prototype names inside a text", () => {
    expect(parseJsonBody(bytes('{"content":"__proto__"}'))).toEqual({ content: "__proto__" });
  });
});
