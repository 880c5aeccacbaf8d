import { beginWork } from "./slices.ts";

/** UTF-16 units of a value that is written as JSON at once: up to a millisecond. */
const MAX_AT_ONCE = 64 * 1024;
/** What a number, a key or a short text counts beside its letters. */
const FEW = 16;

/** UTF-16 units that a value has as JSON, about; counting ends once they are more than `enough`. */
export function measureJson(value: unknown, enough = MAX_AT_ONCE): number {
  if (typeof value === "string") return value.length + 2;
  if (typeof value !== "object" || value === null) return FEW;
  let size = FEW;
  const isList = Array.isArray(value);
  for (const key in value) {
    if (!isList) size += key.length + FEW;
    size += measureJson((value as Record<string, unknown>)[key], enough - size);
    if (size > enough) return size;
  }
  return size;
}

const isSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdfff;

/** Parts of a long text that end in no surrogate pair, as JSON without quotation marks. */
function* textParts(text: string): Generator<string> {
  for (let at = 0; at < text.length; ) {
    let end = Math.min(text.length, at + MAX_AT_ONCE);
    if (end < text.length && isSurrogate(text.charCodeAt(end - 1)) && isSurrogate(text.charCodeAt(end))) end -= 1;
    yield JSON.stringify(text.slice(at, end)).slice(1, -1);
    at = end;
  }
}

/** The parts of a value's JSON, each short. Undefined, functions and values with a `toJSON` are written as JSON.stringify does. */
function* parts(value: unknown): Generator<string> {
  if (typeof value === "string" && value.length > MAX_AT_ONCE) {
    yield '"';
    yield* textParts(value);
    yield '"';
  } else if (typeof value !== "object" || value === null || "toJSON" in value || measureJson(value) <= MAX_AT_ONCE)
    yield JSON.stringify(value) ?? "null";
  else if (Array.isArray(value)) {
    for (const [n, item] of value.entries()) {
      yield n === 0 ? "[" : ",";
      yield* parts(typeof item === "function" ? undefined : item);
    }
    yield value.length === 0 ? "[]" : "]";
  } else {
    let before = "{";
    for (const [key, item] of Object.entries(value)) {
      if (item === undefined || typeof item === "function") continue;
      yield `${before}${JSON.stringify(key)}:`;
      yield* parts(item);
      before = ",";
    }
    yield before === "{" ? "{}" : "}";
  }
}

/** The JSON of a large value, as JSON.stringify would write it; other work runs in between. `count` gets the length of each part. */
export async function writeLargeJson(value: unknown, count: (bytes: number) => void): Promise<string> {
  const written: string[] = [];
  const pause = beginWork();
  for (const part of parts(value)) {
    written.push(part);
    count(part.length);
    await pause();
  }
  return written.join("");
}

/** UTF-16 units that are sent at once; the last of its parts may exceed it six times, as every unit of a text may be escaped. */
const MAX_SENT = 128 * 1024;

/** The same in pieces of about MAX_SENT units: to join them, or to copy them for another process, would hold the event loop. */
export async function* writeInPieces(value: unknown): AsyncGenerator<string> {
  const pause = beginWork();
  let piece = "";
  for (const part of parts(value)) {
    piece += part;
    await pause();
    if (piece.length < MAX_SENT) continue;
    yield piece;
    piece = "";
  }
  if (piece !== "") yield piece;
}

/** The same as bytes: encoding a long text in one piece would hold the event loop, too. */
export async function encodeLargeJson(value: unknown): Promise<Buffer<ArrayBuffer>> {
  const written: Buffer[] = [];
  const pause = beginWork();
  for (const part of parts(value)) {
    written.push(Buffer.from(part));
    await pause();
  }
  return Buffer.concat(written);
}

/** Whether the JSON of a value is too long to be written at once. */
export const isLargeJson = (value: unknown): boolean => measureJson(value) > MAX_AT_ONCE;
