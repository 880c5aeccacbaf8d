import { createHash, createHmac } from "node:crypto";

/** Maximum UTF-16 units of an input or a result. */
const MAX_SIZE = 1024 * 1024;
/** JSON escapes a unit with up to six characters (`\u0000`). */
const MAX_JSON_SIZE = 6 * MAX_SIZE;
const URL_PARTS = [
  "href",
  "origin",
  "protocol",
  "username",
  "password",
  "host",
  "hostname",
  "port",
  "pathname",
  "search",
  "hash",
] as const;

const describeUrl = (url: URL | null): string =>
  url ? JSON.stringify(Object.fromEntries(URL_PARTS.map((part) => [part, url[part]]))) : "";

const HASHES: Record<string, string> = {
  "SHA-1": "sha1",
  "SHA-256": "sha256",
  "SHA-384": "sha384",
  "SHA-512": "sha512",
};
const bytesOf = (latin1: string): Buffer => Buffer.from(latin1, "latin1");

function changeUrl(href: string, part: string, value: string): string {
  const url = new URL(href);
  if (part !== "origin" && (URL_PARTS as readonly string[]).includes(part))
    url[part as Exclude<(typeof URL_PARTS)[number], "origin">] = value;
  return describeUrl(url);
}

function decode(label: string, fatal: string, ignoreBom: string, data: string): string {
  return new TextDecoder(label, { fatal: fatal === "true", ignoreBOM: ignoreBom === "true" }).decode(bytesOf(data));
}

/** Strings in, a string out. Bytes are passed as strings of one byte per unit (`latin1`). */
const FUNCTIONS: Record<string, (...texts: string[]) => string> = {
  parseUrl: (text = "", base) => describeUrl(URL.parse(text, base)),
  changeUrl: (href = "", part = "", value = "") => changeUrl(href, part, value),
  parseQuery: (query = "") => JSON.stringify([...new URLSearchParams(query)]),
  writeQuery: (pairs = "[]") => new URLSearchParams(JSON.parse(pairs) as [string, string][]).toString(),
  encode: (text = "") => Buffer.from(text, "utf8").toString("latin1"),
  decode: (label = "utf-8", fatal = "", ignoreBom = "", data = "") => decode(label, fatal, ignoreBom, data),
  /** The encoding name used by the platform's decoder. */
  encodingName: (label = "utf-8") => new TextDecoder(label).encoding,
  digest: (hash = "", data = "") => createHash(HASHES[hash]!).update(bytesOf(data)).digest("latin1"),
  hmac: (hash = "", key = "", data = "") =>
    createHmac(HASHES[hash]!, bytesOf(key)).update(bytesOf(data)).digest("latin1"),
};

/**
 * Implements a script's URL, TextEncoder, TextDecoder and crypto.subtle, which QuickJS lacks. `texts` is a JSON array of strings.
 * Returns "=" and the result, or "!" and a message for the author of the script.
 */
export function callWebFunction(name: string, texts: string): string {
  if (texts.length > MAX_JSON_SIZE) return "!the input is longer than 1 MiB";
  try {
    const result = FUNCTIONS[name]!(...(JSON.parse(texts) as string[]));
    return result.length > MAX_SIZE ? "!the result is longer than 1 MiB" : `=${result}`;
  } catch (error) {
    return `!${(error as Error).message}`;
  }
}
