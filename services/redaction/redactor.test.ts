import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { longestTurn } from "#test/computingTime.ts";
import { createRedactor } from "./redactor.ts";

const redactorOf = (secrets: Record<string, string>) => {
  const redactor = createRedactor();
  for (const [name, value] of Object.entries(secrets)) redactor.add(name, value);
  return redactor;
};
const VALUE = 'sk-"live"/\\é+=& ü';

describe("a redactor removes a secret from a text", () => {
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
    ["backwards", Array.from(VALUE).reverse().join(""), "[secret shop]"],
    ["backwards in JSON", JSON.stringify(Array.from(VALUE).reverse().join("")), '"[secret shop]"'],
    ["backwards in an address", encodeURIComponent(Array.from(VALUE).reverse().join("")), "[secret shop]"],
    ["more than once", `${VALUE}${VALUE}`, "[secret shop][secret shop]"],
  ])("%s", async (_, plain, redacted) => expect(await text(plain)).toBe(redacted));

  test.each(["user:", "a user:", "the user:"])("as base64 after %j", async (before) => {
    const encoded = base64(`${before}${VALUE} and more`);
    const [start, end] = (await text(encoded)).split("[secret shop]");
    expect(Buffer.from(start!, "base64").toString()).toBe(before.slice(0, Math.floor((start!.length * 6) / 8)));
    expect(end).not.toBe("");
    expect(await text(encoded)).not.toContain(base64(VALUE).slice(4, 12));
  });
});

test("a redactor removes a secret backwards by characters and by units", async () => {
  const { text } = redactorOf({ emoji: "key😀one" });
  expect(await text(Array.from("key😀one").reverse().join(""))).toBe("[secret emoji]");
  expect(await text("key😀one".split("").reverse().join(""))).toBe("[secret emoji]");
});

test("a redactor removes secrets that overlap as one", async () => {
  const { text } = redactorOf({ first: "alpha-beta", second: "beta-gamma-delta", third: "xy-alpha-beta-gamma-deltas" });
  expect(await text("<alpha-beta-gamma-delta>")).toBe("<[secret second]>");
  expect(await text("<xy-alpha-beta-gamma-deltas>")).toBe("<[secret third]>");
  expect(await redactorOf({ a: "aaaa" }).text(`<${"a".repeat(11)}>`)).toBe("<[secret a]>");
});

test("a redactor removes a secret from a text that almost contains others", async () => {
  const { text } = redactorOf({ inner: "bcde", outer: "abcdef-and-more" });
  expect(await text("abcdef-and-less, abcdef-and-more")).toBe("a[secret inner]f-and-less, [secret outer]");
});

test("a redactor removes a secret with half of a surrogate pair", async () => {
  const { text, json } = redactorOf({ odd: "half \ud800 of it" });
  expect(await text("a half \ud800 of it b")).toBe("a [secret odd] b");
  expect(await json(JSON.stringify(["half \ud800 of it"]))).toBe('["[secret odd]"]');
});

test("a redactor leaves values alone that are too short to be secrets", async () => {
  expect(await redactorOf({ pin: "abc" }).text("abcdef")).toBe("abcdef");
  expect(await redactorOf({}).text("anything")).toBe("anything");
  expect(redactorOf({ pin: "abc", other: "1234" }).names()).toEqual(["pin", "other"]);
});

test("a redactor names the longer of two secrets that contain each other, and does not redact names", async () => {
  const { text } = redactorOf({ secret: "secret", long: "my secret word" });
  expect(await text("my secret word, a secret")).toBe("[secret long], a [secret secret]");
});

test("a redactor removes a long secret that is cut off", async () => {
  const long = Array.from({ length: 4_000 }, (_, n) => String.fromCharCode(97 + ((n * n) % 26))).join("");
  const { text } = redactorOf({ long, longer: `${long}and more` });
  expect(await text(`a ${long}.`)).toBe("a [secret long].");
  expect(await text(`a ${long}and more.`)).toBe("a [secret longer].");
  expect(await text(`a ${long.slice(0, 1_000)}… ${long}`)).toBe("a [secret long]… [secret long]");
  expect(await text(long.slice(0, 63))).toBe(long.slice(0, 63));
});

test("a redactor distinguishes secrets that resemble each other and the text", async () => {
  const values = Array.from({ length: 100 }, (_, n) => `${"a".repeat(1_000)}${String(n).padStart(2, "0")}`);
  const { text } = redactorOf(Object.fromEntries(values.map((value, n) => [`s${n}`, value])));
  expect(await text(`${values[7]} ${values[42]}`)).toBe("[secret s7] [secret s42]");
  expect(await text(`${"a".repeat(63)}b`.repeat(10_000))).toBe(`${"a".repeat(63)}b`.repeat(10_000));
});

describe("a redactor of a hostile result of 1 MiB gives the event loop its turn every 50 ms of processor time", () => {
  const MAX_TURN_MS = 50;
  const similar = Array.from({ length: 50 }, (_, n) => `${"ab".repeat(500)}${n}`);
  const redactor = redactorOf({
    ...Object.fromEntries(similar.map((value, n) => [`s${n}`, value])),
    periodic: "abcd".repeat(16),
    inner: "abcd",
  });
  const SIZE = 1024 * 1024;
  const fill = (unit: string) => unit.repeat(Math.floor(SIZE / unit.length));
  const texts: [string, string][] = [
    ["that nearly repeats the secrets", fill(`${"ab".repeat(31)}b`)],
    ["of the beginnings of long secrets", fill("ab".repeat(500))],
    ["of a secret that contains another", fill(`${"abcd".repeat(15)}x`)],
    ["of one short secret", fill("abcd")],
    ["of one short secret with gaps", fill("abcd ")],
  ];
  test.each(texts)("%s", async (_, text) => {
    expect(await longestTurn(() => redactor.text(text))).toBeLessThan(MAX_TURN_MS);
  });
  test.each([
    ["of empty strings", `[${fill('"",').slice(0, -1)}]`],
    ["of digits", `[${fill("1,").slice(0, -1)}]`],
    ["of short words", `[${fill('"abc\\n",').slice(0, -1)}]`],
    ["of short secrets", `[${fill('"abcd",').slice(0, -1)}]`],
    ["of one string", `["${fill("abcd")}"]`],
  ])("%s as JSON", async (_, json) => {
    expect(await longestTurn(() => redactor.json(json))).toBeLessThan(MAX_TURN_MS);
  });
  test("with a hundred long secrets, none of which was searched for before", async () => {
    const secrets = Array.from({ length: 100 }, (_, n) => [`s${n}`, randomBytes(1_500).toString("base64")]);
    const many = redactorOf(Object.fromEntries(secrets));
    expect(await longestTurn(() => many.text("nothing"))).toBeLessThan(MAX_TURN_MS);
  });
});

test("a redactor does not let a result grow with the names of its secrets", async () => {
  const { text } = redactorOf({ [`n${"n".repeat(60)}`]: "abcd" });
  const redacted = await text("abcd".repeat(262_144));
  expect(redacted).not.toContain("abcd");
  expect(redacted.length).toBeLessThan(1024 * 1024);
});

test("a redactor that learns a secret while it works removes it the next time", async () => {
  const redactor = redactorOf({ first: "first-value" });
  const long = "first-value second-value ".repeat(20_000);
  const before = redactor.text(long);
  redactor.add("second", "second-value");
  expect(await before).not.toContain("first-value");
  expect(await redactor.text(long)).not.toMatch(/first-value|second-value/);
});

describe("a redactor keeps JSON valid", () => {
  const leave = async (secret: string, value: unknown) =>
    JSON.parse(await redactorOf({ shop: secret }).json(JSON.stringify(value)));

  test("with secrets in strings and keys", async () => {
    expect(await leave(VALUE, { a: [`x ${VALUE}`], [VALUE]: 1, b: null, c: 'q"\\' })).toEqual({
      a: ["x [secret shop]"],
      "[secret shop]": 1,
      b: null,
      c: 'q"\\',
    });
  });

  test("with secrets that are numbers or words", async () => {
    expect(await leave("123456", { amount: 123456, text: "123456", other: 12345 })).toEqual({
      amount: "[secret shop]",
      text: "[secret shop]",
      other: 12345,
    });
    expect(await leave("true", [true, false, null])).toEqual(["[secret shop]", false, null]);
  });

  test("with a secret that looks like part of an escape or of the punctuation", async () => {
    expect(await leave("nbcd", { a: "\nbcd" })).toEqual({ a: "\nbcd" });
    expect(await leave('":"a"', { b: "a" })).toEqual({ b: "a" });
    expect(await leave("u00e9", { b: "\u0000é" })).toEqual({ b: "\u0000é" });
  });

  test("and unchanged when it contains no secret", async () => {
    const json = '{ "a" : 1e400, "a":-0.0 ,"__proto__":[ 12345678901234567890 ] }';
    expect(await redactorOf({ shop: VALUE }).json(json)).toBe(json);
  });

  test("with very long strings", async () => {
    for (const unit of ["\n", '"', "a", "é", "\\"]) {
      const long = unit.repeat(1_000_000);
      expect(await leave("shopkey", [long, "shopkey"])).toEqual([long, "[secret shop]"]);
    }
  });
});
