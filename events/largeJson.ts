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
export function* jsonParts(value: unknown): Generator<string> {
  if (typeof value === "string" && value.length > MAX_AT_ONCE) {
    yield '"';
    yield* textParts(value);
    yield '"';
  } else if (typeof value !== "object" || value === null || "toJSON" in value || measureJson(value) <= MAX_AT_ONCE)
    yield JSON.stringify(value) ?? "null";
  else if (Array.isArray(value)) {
    for (const [n, item] of value.entries()) {
      yield n === 0 ? "[" : ",";
      yield* jsonParts(typeof item === "function" ? undefined : item);
    }
    yield value.length === 0 ? "[]" : "]";
  } else {
    let before = "{";
    for (const [key, item] of Object.entries(value)) {
      if (item === undefined || typeof item === "function") continue;
      yield `${before}${JSON.stringify(key)}:`;
      yield* jsonParts(item);
      before = ",";
    }
    yield before === "{" ? "{}" : "}";
  }
}

async function collectParts<T>(
  value: unknown,
  count: (size: number) => void,
  collect: (part: string) => T,
): Promise<T[]> {
  const written: T[] = [];
  const pause = beginWork();
  for (const part of jsonParts(value)) {
    written.push(collect(part));
    count(part.length);
    await pause();
  }
  return written;
}

/** The JSON of a large value, as JSON.stringify would write it; other work runs in between. `count` gets the length of each part. */
export const writeLargeJson = async (value: unknown, count: (size: number) => void): Promise<string> =>
  (await collectParts(value, count, (part) => part)).join("");

/** The same as bytes: encoding them in one piece would hold the event loop. */
export const encodeLargeJson = async (value: unknown, count: (size: number) => void): Promise<Buffer> =>
  Buffer.concat(await collectParts(value, count, (part) => Buffer.from(part)));

const IGNORE = (): void => {};

/** The JSON of a value that may be large. */
export const toJson = (value: unknown): string | Promise<string> =>
  measureJson(value) > MAX_AT_ONCE ? writeLargeJson(value, IGNORE) : JSON.stringify(value);
