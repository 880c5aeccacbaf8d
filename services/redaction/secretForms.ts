import { insideJson } from "#events/json.ts";

/** Shorter base64 occurs in texts by chance. */
const MIN_BASE64_LENGTH = 8;

const inAscii = (text: string): string =>
  text.replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** The base64 of bytes that follow others, such as `user:`: only the characters that encode nothing but these bytes. */
const base64Within = (bytes: Buffer): string[] =>
  [0, 1, 2].flatMap((before) => {
    const bits = (before + bytes.length) * 8;
    const whole = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64");
    const own = whole.slice(Math.ceil((before * 8) / 6), Math.floor(bits / 6));
    return own.length < MIN_BASE64_LENGTH ? [] : [own];
  });

/** A value as it is, as JSON, as JSON in JSON, as JSON of ASCII, in an address and in a form. */
const asText = (value: string): string[] => {
  const whole = value.toWellFormed();
  return [
    value,
    insideJson(value),
    insideJson(insideJson(value)),
    inAscii(insideJson(value)),
    encodeURIComponent(whole),
    new URLSearchParams([["", whole]]).toString().slice(1),
  ];
};

/** Backwards by characters, and by UTF-16 units as `split("").reverse()` does. */
const reversed = (value: string): string[] => [
  Array.from(value).reverse().join(""),
  value.split("").reverse().join(""),
];

/** The forms in which a secret can occur in a text: plain, encoded as JSON, in URLs, in form data and as base64, and backwards. */
export function secretForms(value: string): Set<string> {
  const bytes = Buffer.from(value);
  const base64 = [bytes.toString("base64"), ...base64Within(bytes)];
  return new Set([
    ...asText(value),
    ...reversed(value).flatMap(asText),
    ...base64,
    ...base64.map((text) => text.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")),
  ]);
}
