import { createHash } from "node:crypto";
import type { Metadata, MetadataValue, DocumentReader } from "#events/documentDetails.ts";
import type { Bounds, MetadataCondition } from "#projections/passages/engine.ts";

/*
 * All filterable properties of a document are one array of short hashes, so that the index's settings do not grow with the tenants'
 * metadata keys (ADR 52).
 */

/** Hex digits of a mark. Few other documents match by accident, and those are dropped afterwards. */
const MARK_LENGTH = 16;
/** Hex digits of a number that get marks: its sign, its exponent and 20 bits of the mantissa. */
const NUMBER_DIGITS = 8;

const mark = (...parts: string[]): string =>
  createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, MARK_LENGTH);

/**
 * The mark of a tag. With hashes, filters contain no user input that needs escaping, and tags match exactly; the server's own
 * comparison ignores case and accents.
 */
export const tagMark = (tag: string): string => createHash("sha256").update(tag).digest("hex").slice(0, 32);

export const typeMark = (mime_type: string): string => mark("type", mime_type);
/** The mark of documents that not everybody may read. */
export const RESTRICTED_MARK = mark("restricted");
export const readerMark = (reader: DocumentReader): string => mark("reader", JSON.stringify(reader));
/** The mark of passages with a vector of this space. */
export const spaceMark = (space: string): string => mark("space", space);
const keyMark = (key: string): string => mark("key", key);
const valueMark = (key: string, value: MetadataValue): string => mark("value", key, typeof value, String(value));
const numberMark = (key: string, digits: string): string => mark("number", key, digits);

/** Hex digits whose text order is the numeric order. */
function sortableDigits(value: number): string {
  const view = new DataView(new ArrayBuffer(8));
  // -0 becomes 0
  view.setFloat64(0, value + 0);
  const bits = view.getBigUint64(0);
  const isNegative = bits >> 63n === 1n;
  const sortable = isNegative ? BigInt.asUintN(64, ~bits) : bits | (1n << 63n);
  return sortable.toString(16).padStart(16, "0").slice(0, NUMBER_DIGITS);
}

const DIGITS = Array.from("0123456789abcdef");

/** The shortest set of prefixes that covers all digits from one text to another of the same length. */
function coverRange(from: string, to: string): string[] {
  if (from === to || (/^0*$/.test(from) && /^f*$/.test(to))) return [from === to ? from : ""];
  const [first, last] = [from[0]!, to[0]!];
  const below = (digit: string, rest: string[]) => rest.map((prefix) => digit + prefix);
  if (first === last) return below(first, coverRange(from.slice(1), to.slice(1)));
  const length = from.length - 1;
  return [
    ...below(first, coverRange(from.slice(1), "f".repeat(length))),
    ...DIGITS.slice(DIGITS.indexOf(first) + 1, DIGITS.indexOf(last)),
    ...below(last, coverRange("0".repeat(length), to.slice(1))),
  ];
}

/** The marks of a document's metadata. */
export const metadataMarks = (metadata: Metadata): string[] =>
  Object.entries(metadata).flatMap(([key, value]) => {
    const marks = [keyMark(key), valueMark(key, value)];
    if (typeof value !== "number") return marks;
    const digits = sortableDigits(value);
    return [...marks, ...Array.from(digits, (_, n) => numberMark(key, digits.slice(0, n + 1)))];
  });

/** Marks such that every document within the bounds has at least one. Some documents outside have one, too. */
function boundsMarks(key: string, { gt, gte, lt, lte }: Bounds): string[] {
  const [least, most] = [gte ?? gt, lte ?? lt];
  if (typeof (least ?? most) !== "number") return [keyMark(key)];
  const from = sortableDigits(typeof least === "number" ? least : -Infinity);
  const to = sortableDigits(typeof most === "number" ? most : Infinity);
  const prefixes = from <= to ? coverRange(from, to) : [];
  return prefixes.map((prefix) => (prefix === "" ? keyMark(key) : numberMark(key, prefix)));
}

/** Marks such that every document that meets the condition has at least one. */
export const conditionMarks = (condition: MetadataCondition): string[] =>
  "values" in condition
    ? condition.values.map((value) => valueMark(condition.key, value))
    : boundsMarks(condition.key, condition.bounds);
