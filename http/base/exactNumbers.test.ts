import { describe, expect, test } from "vitest";
import { computingTime } from "#test/computingTime.ts";
import { parseKeepingDigits, requireExact } from "./exactNumbers.ts";

const refusal = (json: string) => {
  try {
    requireExact(JSON.parse(json), "args", "invalid_args");
    return undefined;
  } catch (error) {
    const { message, errorCode, param } = error as { message: string; errorCode: string; param: string };
    expect([errorCode, message.startsWith(`${param}: must be at most 9007199254740991`)]).toEqual([
      "invalid_args",
      true,
    ]);
    return param;
  }
};

describe("a number that JSON.parse would change", () => {
  test.each([
    ['{"id":9007199254740993}', "args.id"],
    ['{"a":[0,{"b":-9007199254740993}]}', "args.a[1].b"],
    ["1e400", "args"],
    ['{"x":-1e400}', "args.x"],
    ["1000000000000000000", "args"],
  ])("in %s is refused and named", (json, param) => expect(refusal(json)).toBe(param));

  test.each([
    "9007199254740991",
    "-9007199254740991",
    "0.1",
    "1.5e300",
    "-0",
    "1e21",
    '{"a":null,"b":"9007199254740993"}',
  ])("is not in %s", (json) => expect(refusal(json)).toBeUndefined());

  test.each([
    ['{"id":9007199254740993,"n":[1e400,-1E+999,7]}', { id: "9007199254740993", n: ["1e400", "-1E+999", 7] }],
    [
      '{"id":9007199254740991,"text":"9007199254740993","x":6.02e+123}',
      { id: 9007199254740991, text: "9007199254740993", x: 6.02e123 },
    ],
  ])("keeps its digits as text in %s", (json, value) => expect(parseKeepingDigits(json)).toEqual(value));

  test.each([
    [
      '["9007199254740993, \\" 9007199254740993",1.2345678901234567890]',
      ['9007199254740993, " 9007199254740993', 1.2345678901234567],
    ],
    ["9007199254740993.5", "9007199254740993.5"],
  ])("and nothing else of %s changes", (json, value) => expect(parseKeepingDigits(json)).toEqual(value));

  test.each(["[0009007199254740993]", "[9007199254740993x]", '["9007199254740993]'])("leaves %s invalid", (json) =>
    expect(() => parseKeepingDigits(json)).toThrow(SyntaxError),
  );

  test("is found among 200,000 others without blocking other work", () => {
    const json = `[${"1,".repeat(200_000)}9007199254740993]`;
    let value: unknown;
    expect(computingTime(() => (value = parseKeepingDigits(json)))).toBeLessThan(50);
    expect((value as unknown[]).at(-1)).toBe("9007199254740993");
  });

  test.each(["", "\\"])(
    "is found beside a string of escaped quotes in linear time, also if the string ends with %j only",
    (end) => {
      const escaped = `[9007199254740993,"${'\\"'.repeat(500_000)}`;
      expect(computingTime(() => expect(() => parseKeepingDigits(escaped + end)).toThrow(SyntaxError))).toBeLessThan(
        50,
      );
      expect(parseKeepingDigits(`${escaped}"]`)).toEqual(["9007199254740993", '"'.repeat(500_000)]);
    },
  );

  test("is found among names of JavaScript's own properties, which stay ordinary names", () => {
    const value = parseKeepingDigits('{"__proto__":{"id":9007199254740993}}') as object;
    expect(JSON.stringify(value)).toBe('{"__proto__":{"id":"9007199254740993"}}');
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });
});
