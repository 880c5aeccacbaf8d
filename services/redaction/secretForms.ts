import { escapeJson } from "#events/json.ts";

/** Shorter base64 would match ordinary text by chance. */
const MIN_BASE64_LENGTH = 8;

const inAscii = (text: string): string =>
  text.replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** The base64 of bytes that follow others (such as `user:`), one for each alignment. Only characters that encode nothing but these bytes. */
const base64Within = (bytes: Buffer): string[] =>
  [0, 1, 2].flatMap((before) => {
    const bits = (before + bytes.length) * 8;
    const whole = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64");
    const own = whole.slice(Math.ceil((before * 8) / 6), Math.floor(bits / 6));
    return own.length < MIN_BASE64_LENGTH ? [] : [own];
  });

/** A value as plain text, as JSON, as JSON in JSON, as ASCII-only JSON, in a URL and in form data. */
const asText = (value: string): string[] => {
  const whole = value.toWellFormed();
  return [
    value,
    escapeJson(value),
    escapeJson(escapeJson(value)),
    inAscii(escapeJson(value)),
    encodeURIComponent(whole),
    new URLSearchParams([["", whole]]).toString().slice(1),
  ];
};

/** Reversed by characters, and by UTF-16 units as `split("").reverse()` does. */
const reversed = (value: string): string[] => [
  Array.from(value).reverse().join(""),
  value.split("").reverse().join(""),
];

/** All forms in which a secret may occur in a text: plain, as JSON, in URLs, in form data, as base64, and each reversed. */
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
