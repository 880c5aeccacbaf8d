import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ApiError } from "./errors.ts";
import { parseJsonBody } from "./json.ts";

const bytes = (text: string) => Buffer.from(text);

describe("parsing a JSON body", () => {
  test("gives the same result as JSON.parse", () => {
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

  test("parses a large body in several rounds of the event loop, with the same checks", async () => {
    const filler = "x".repeat(5 * 1024 * 1024);
    const parsing = parseJsonBody(bytes(JSON.stringify({ filler, ü: 1 })));
    expect(parsing).toBeInstanceOf(Promise);
    expect(await parsing).toEqual({ filler, ü: 1 });
    for (const member of ['"__proto__":{}', '"\\u005f_proto__":{}', '"a":[{"constructor":{"prototype":{}}}]'])
      await expect(parseJsonBody(bytes(`{"filler":"${filler}",${member}}`))).rejects.toThrow("prototype");
    const named = await parseJsonBody(bytes(`{"filler":"${filler} __proto__ constructor"}`));
    expect(named).toEqual({ filler: `${filler} __proto__ constructor` });
    await expect(parseJsonBody(bytes(`{"filler":"${filler}"`))).rejects.toThrow(ApiError);
  });

  test("parses a short body with many values in several rounds, too", async () => {
    const names = Array.from({ length: 20_000 }, (_, n) => ({ [`name ${n}`]: 0 }));
    const zeros = Array.from({ length: 50_000 }, () => 0);
    const parsing = parseJsonBody(bytes(JSON.stringify({ names })));
    expect(parsing).toBeInstanceOf(Promise);
    expect(await parsing).toEqual({ names });
    expect(parseJsonBody(bytes(JSON.stringify(zeros)))).toEqual(zeros);
  });

  test("accepts prototype names inside a text", () => {
    expect(parseJsonBody(bytes('{"content":"__proto__"}'))).toEqual({ content: "__proto__" });
  });
});
