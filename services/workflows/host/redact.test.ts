import { describe, expect, test } from "vitest";
import { createRedactor } from "./redact.ts";

const redactorOf = (secrets: Record<string, string>) => {
  const redactor = createRedactor();
  for (const [name, value] of Object.entries(secrets)) redactor.add(name, value);
  return redactor;
};
const VALUE = 'sk-"live"/\\é+=& ü';

describe("a value is taken out of a text", () => {
  const { text } = redactorOf({ shop: VALUE });
  const base64 = (words: string) => Buffer.from(words).toString("base64");
  test.each([
    ["as it is", `the key ${VALUE}!`, "the key [secret shop]!"],
    ["as JSON", `the key ${JSON.stringify(VALUE)}`, 'the key "[secret shop]"'],
    ["as JSON in JSON", JSON.stringify(JSON.stringify({ a: VALUE })), '"{\\"a\\":\\"[secret shop]\\"}"'],
    ["as JSON of ASCII", '"sk-\\"live\\"/\\\\\\u00e9+=& \\u00fc"', '"[secret shop]"'],
    ["in an address", `https://a/?key=${encodeURIComponent(VALUE)}`, "https://a/?key=[secret shop]"],
    ["in a form", new URLSearchParams({ key: VALUE }).toString(), "key=[secret shop]"],
    ["as base64", base64(VALUE), "[secret shop]"],
    ["as base64url", Buffer.from(VALUE).toString("base64url"), "[secret shop]"],
    ["more than once", `${VALUE}${VALUE}`, "[secret shop][secret shop]"],
  ])("%s", (_, told, left) => expect(text(told)).toBe(left));

  test.each(["user:", "a user:", "the user:"])("as base64 behind %j", (before) => {
    const told = base64(`${before}${VALUE} and more`);
    const [start, end] = text(told).split("[secret shop]");
    expect(Buffer.from(start!, "base64").toString()).toBe(before.slice(0, Math.floor((start!.length * 6) / 8)));
    expect(end).not.toBe("");
    expect(text(told)).not.toContain(base64(VALUE).slice(4, 12));
  });
});

test("half of a pair does no harm", () => {
  const { text, json } = redactorOf({ odd: "half \ud800 of it" });
  expect(text("a half \ud800 of it b")).toBe("a [secret odd] b");
  expect(json(JSON.stringify(["half \ud800 of it"]))).toBe('["[secret odd]"]');
});

test("nothing is taken out that is too short, nor where there is nothing", () => {
  expect(redactorOf({ pin: "abc" }).text("abcdef")).toBe("abcdef");
  expect(redactorOf({}).text("anything")).toBe("anything");
  expect(redactorOf({ pin: "abc", other: "1234" }).names()).toEqual(["pin", "other"]);
});

test("of secrets that hold each other the longer one is named, and a name is no value", () => {
  const { text } = redactorOf({ secret: "secret", long: "my secret word" });
  expect(text("my secret word, a secret")).toBe("[secret long], a [secret secret]");
});

test("a long value is taken out also where it is cut off", () => {
  const long = Array.from({ length: 4_000 }, (_, n) => String.fromCharCode(97 + ((n * n) % 26))).join("");
  const { text } = redactorOf({ long, longer: `${long}and more` });
  expect(text(`a ${long}.`)).toBe("a [secret long].");
  expect(text(`a ${long}and more.`)).toBe("a [secret longer].");
  expect(text(`a ${long.slice(0, 1_000)}… ${long}`)).toBe("a [secret long]… [secret long]");
  expect(text(long.slice(0, 63))).toBe(long.slice(0, 63));
});

test("values that resemble each other and the text are told apart", () => {
  const values = Array.from({ length: 100 }, (_, n) => `${"a".repeat(1_000)}${String(n).padStart(2, "0")}`);
  const { text } = redactorOf(Object.fromEntries(values.map((value, n) => [`s${n}`, value])));
  expect(text(`${values[7]} ${values[42]}`)).toBe("[secret s7] [secret s42]");
  expect(text(`${"a".repeat(63)}b`.repeat(10_000))).toBe(`${"a".repeat(63)}b`.repeat(10_000));
});

describe("JSON stays JSON", () => {
  const leave = (secret: string, value: unknown) =>
    JSON.parse(redactorOf({ shop: secret }).json(JSON.stringify(value)));

  test("with values in strings and keys", () => {
    expect(leave(VALUE, { a: [`x ${VALUE}`], [VALUE]: 1, b: null, c: 'q"\\' })).toEqual({
      a: ["x [secret shop]"],
      "[secret shop]": 1,
      b: null,
      c: 'q"\\',
    });
  });

  test("with values that are numbers or words", () => {
    expect(leave("123456", { amount: 123456, text: "123456", other: 12345 })).toEqual({
      amount: "[secret shop]",
      text: "[secret shop]",
      other: 12345,
    });
    expect(leave("true", [true, false, null])).toEqual(["[secret shop]", false, null]);
  });

  test("where a value reads like a part of an escape, or of the punctuation", () => {
    expect(leave("nbcd", { a: "\nbcd" })).toEqual({ a: "\nbcd" });
    expect(leave('":"a"', { b: "a" })).toEqual({ b: "a" });
    expect(leave("u00e9", { b: "\u0000é" })).toEqual({ b: "\u0000é" });
  });

  test("character by character where nothing is taken out", () => {
    const json = '{ "a" : 1e400, "a":-0.0 ,"__proto__":[ 12345678901234567890 ] }';
    expect(redactorOf({ shop: VALUE }).json(json)).toBe(json);
  });

  test("however long a string is", () => {
    for (const unit of ["\n", '"', "a", "é", "\\"]) {
      const long = unit.repeat(1_000_000);
      expect(leave("shopkey", [long, "shopkey"])).toEqual([long, "[secret shop]"]);
    }
  });
});
