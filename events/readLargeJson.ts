import { createPause } from "./slices.ts";

/* JSON.parse reads a text in one piece: it blocks the event loop for 200 ms on 60 MB of escaped line ends (ADR 86). */

/** Values up to this many bytes are parsed in one piece, in a fraction of a millisecond. */
const MAX_AT_ONCE = 64 * 1024;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;
const OPENING_BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;
const SMALL_U = 0x75;
const isSpace = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

/** A computation that yields wherever other work may run, and returns a T. */
type Steps<T> = Generator<void, T>;

interface Json {
  bytes: Buffer;
  /** Maps the index of an opening bracket, or of the quote that begins a long string, to the index where it ends. */
  ends: Map<number, number>;
}

const invalid = (): SyntaxError => new SyntaxError("The JSON is not valid.");

/** The index of the quote that ends the string whose text begins at `from`. */
function* endOfString(bytes: Buffer, from: number): Steps<number> {
  const first = bytes.indexOf(QUOTE, from);
  // most strings have no escaped quote
  if (first >= 0 && bytes[first - 1] !== BACKSLASH) return first;
  let nextStep = from + MAX_AT_ONCE;
  for (let at = from; at < bytes.length; at += bytes[at] === BACKSLASH ? 2 : 1) {
    if (bytes[at] === QUOTE) return at;
    if (at < nextStep) continue;
    nextStep = at + MAX_AT_ONCE;
    yield;
  }
  throw invalid();
}

/** Finds the ends of brackets and long strings. Whether brackets match is checked later, when they are parsed. */
function* findEnds(bytes: Buffer): Steps<Json["ends"]> {
  const ends: Json["ends"] = new Map();
  const open: number[] = [];
  let nextStep = MAX_AT_ONCE;
  for (let at = 0; at < bytes.length; at++) {
    if (at >= nextStep) {
      nextStep = at + MAX_AT_ONCE;
      yield;
    }
    const byte = bytes[at];
    if (byte === QUOTE) {
      const start = at;
      at = yield* endOfString(bytes, start + 1);
      if (at - start > MAX_AT_ONCE) ends.set(start, at);
    } else if (byte === OPENING_BRACE || byte === OPENING_BRACKET) open.push(at);
    else if (byte === CLOSING_BRACE || byte === CLOSING_BRACKET) {
      const start = open.pop();
      if (start === undefined) throw invalid();
      ends.set(start, at);
    }
  }
  if (open.length > 0) throw invalid();
  return ends;
}

function* skipSpace(bytes: Buffer, from: number, to: number): Steps<number> {
  let at = from;
  while (at < to && isSpace(bytes[at])) if ((++at - from) % MAX_AT_ONCE === 0) yield;
  return at;
}

/** The index of the last byte of the value that begins at `at`. */
function* endOfValue({ bytes, ends }: Json, at: number, to: number): Steps<number> {
  const byte = bytes[at];
  if (byte === QUOTE) return ends.get(at) ?? (yield* endOfString(bytes, at + 1));
  if (byte === OPENING_BRACE || byte === OPENING_BRACKET) return ends.get(at)!;
  // a number, or `true`, `false` or `null`
  let end = at;
  while (end + 1 < to && !isSpace(bytes[end + 1])) if (++end - at > MAX_AT_ONCE) throw invalid();
  return end;
}

/** Parses a value. Anything around it must be white space. */
function* parseValue(json: Json, from: number, to: number): Steps<unknown> {
  const { bytes } = json;
  const start = yield* skipSpace(bytes, from, to);
  if (start === to) throw invalid();
  const end = yield* endOfValue(json, start, to);
  if ((yield* skipSpace(bytes, end + 1, to)) !== to) throw invalid();
  if (end - start <= MAX_AT_ONCE) return JSON.parse(bytes.toString("utf8", start, end + 1));
  if (bytes[start] === QUOTE) return yield* parseText(bytes, start + 1, end);
  return yield* bytes[start] === OPENING_BRACE ? parseObject(json, start, end) : parseList(json, start, end);
}

/** Whether the byte at `at` is escaped. `from`: the beginning of this part of the string, which is never within an escape. */
function isEscaped(bytes: Buffer, from: number, at: number): boolean {
  let first = at;
  while (first > from && bytes[first - 1] === BACKSLASH) first--;
  return (at - first) % 2 === 1;
}

/** The end of a part of a string: `to`, or shortly before if `to` is within a character or an escape. */
function endOfPart(bytes: Buffer, from: number, to: number): number {
  let end = to;
  while ((bytes[end]! & 0xc0) === 0x80) end--;
  // no escape is longer than six bytes
  let escape = end - 1;
  while (escape >= end - 5 && bytes[escape] !== BACKSLASH) escape--;
  if (escape < end - 5 || isEscaped(bytes, from, escape)) return end;
  return escape + (bytes[escape + 1] === SMALL_U ? 6 : 2) > end ? escape : end;
}

function* parseText(bytes: Buffer, from: number, to: number): Steps<string> {
  const parts: string[] = [];
  for (let at = from; at < to; ) {
    const end = to - at <= MAX_AT_ONCE ? to : endOfPart(bytes, at, at + MAX_AT_ONCE);
    parts.push(JSON.parse(`"${bytes.toString("utf8", at, end)}"`) as string);
    at = end;
    yield;
  }
  return parts.join("");
}

/** A part between two brackets, without the commas around it: one long member, or several short ones. */
interface Part {
  from: number;
  to: number;
  isLong: boolean;
}

/** Splits the content of two brackets into parts; none if it is only white space. */
function* split({ bytes, ends }: Json, from: number, to: number): Steps<Part[]> {
  const parts: Part[] = [];
  if ((yield* skipSpace(bytes, from, to)) === to) return parts;
  const add = (start: number, end: number): void => {
    const last = parts.at(-1);
    const isLong = end - start > MAX_AT_ONCE;
    if (last && !last.isLong && !isLong && end - last.from <= MAX_AT_ONCE) last.to = end;
    else parts.push({ from: start, to: end, isLong });
  };
  let start = from;
  let nextStep = from + MAX_AT_ONCE;
  for (let at = from; at < to; at++) {
    if (at >= nextStep) {
      nextStep = at + MAX_AT_ONCE;
      yield;
    }
    const byte = bytes[at];
    if (byte === QUOTE) at = ends.get(at) ?? (yield* endOfString(bytes, at + 1));
    else if (byte === OPENING_BRACE || byte === OPENING_BRACKET) at = ends.get(at)!;
    else if (byte === COMMA) {
      add(start, at);
      start = at + 1;
    }
  }
  add(start, to);
  return parts;
}

function* parseList(json: Json, start: number, end: number): Steps<unknown[]> {
  const { bytes } = json;
  if (bytes[end] !== CLOSING_BRACKET) throw invalid();
  const list: unknown[] = [];
  const parts = yield* split(json, start + 1, end);
  for (const { from, to, isLong } of parts) {
    yield;
    if (isLong) {
      list.push(yield* parseValue(json, from, to));
      continue;
    }
    const values = JSON.parse(`[${bytes.toString("utf8", from, to)}]`) as unknown[];
    // `[1,]` ends with an empty part
    if (values.length === 0) throw invalid();
    for (const value of values) list.push(value);
  }
  return list;
}

/** Sets `__proto__` as an ordinary member, as JSON.parse does. */
function setMember(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== "__proto__") object[name] = value;
  else Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
}

function* parseObject(json: Json, start: number, end: number): Steps<Record<string, unknown>> {
  const { bytes } = json;
  if (bytes[end] !== CLOSING_BRACE) throw invalid();
  const object: Record<string, unknown> = {};
  const parts = yield* split(json, start + 1, end);
  for (const { from, to, isLong } of parts) {
    yield;
    if (isLong) {
      yield* parseMember(json, object, { from, to });
      continue;
    }
    const members = Object.entries(JSON.parse(`{${bytes.toString("utf8", from, to)}}`) as object);
    if (members.length === 0) throw invalid();
    for (const [name, value] of members) setMember(object, name, value);
  }
  return object;
}

function* parseMember(
  json: Json,
  object: Record<string, unknown>,
  { from, to }: Pick<Part, "from" | "to">,
): Steps<void> {
  const { bytes } = json;
  const start = yield* skipSpace(bytes, from, to);
  if (bytes[start] !== QUOTE) throw invalid();
  const end = yield* endOfValue(json, start, to);
  const name = yield* parseValue(json, start, end + 1);
  const colon = yield* skipSpace(bytes, end + 1, to);
  if (bytes[colon] !== COLON) throw invalid();
  setMember(object, name as string, yield* parseValue(json, colon + 1, to));
}

function* parse(bytes: Buffer): Steps<unknown> {
  const ends = yield* findEnds(bytes);
  return yield* parseValue({ bytes, ends }, 0, bytes.length);
}

/**
 * Parses UTF-8 JSON with the same result as JSON.parse, and lets other work run in between. Throws a SyntaxError. Callers must
 * limit the number of values and the nesting. No number may be longer than 64 KiB.
 */
export async function parseLargeJson(bytes: Buffer): Promise<unknown> {
  if (bytes.length <= MAX_AT_ONCE) return JSON.parse(bytes.toString());
  const pause = createPause();
  const steps = parse(bytes);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    await pause();
  }
}

/** Parses a text. Returns a promise only if the text is long enough to block the event loop. */
export const parseLargeText = (text: string): unknown =>
  text.length <= MAX_AT_ONCE ? JSON.parse(text) : parseLargeJson(Buffer.from(text));
