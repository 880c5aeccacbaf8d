import type { ColumnValue, Row } from "#projections/projection.ts";

/* Encodes a column's values as a PostgreSQL array for `unnest`. In the binary format neither side escapes or parses anything. */

const NULL_LENGTH = -1;
const HEADER = 20;
/** PostgreSQL counts microseconds from 2000-01-01. */
const EPOCH_MS = 946_684_800_000;
const TWO_32 = 2 ** 32;
const FIRST_BYTES = 64 * 1024;
/** Maximum size of a buffer that is kept for reuse. */
const MAX_KEPT_BYTES = 4 * 1024 * 1024;
/** UTF-8 bytes per UTF-16 unit at most: characters outside the basic plane are two units and four bytes. */
const BYTES_PER_UNIT = 3;
/** Up to this length, writing byte by byte is faster than a call into Node. */
const MAX_SHORT = 48;

let bytes = Buffer.allocUnsafe(FIRST_BYTES);
let at = 0;

function reserve(more: number): void {
  if (at + more <= bytes.length) return;
  const larger = Buffer.allocUnsafe(Math.max(bytes.length * 2, at + more));
  bytes.copy(larger, 0, 0, at);
  bytes = larger;
}

function writeInt64(value: number): void {
  bytes.writeInt32BE(Math.floor(value / TWO_32), at);
  bytes.writeUInt32BE(((value % TWO_32) + TWO_32) % TWO_32, at + 4);
  at += 8;
}

const HEX = new Int8Array(128).fill(-1);
for (let n = 0; n < 16; n++)
  for (const digit of [n.toString(16), n.toString(16).toUpperCase()]) HEX[digit.charCodeAt(0)] = n;
const hexDigit = (text: string, n: number): number => HEX[text.charCodeAt(n)] ?? -1;

/** False for unusual spellings of a UUID. */
function writeUuid(text: string): boolean {
  if (text.length !== 36) return false;
  for (let n = 0; n < 36; n += 2) {
    if (n === 8 || n === 13 || n === 18 || n === 23) {
      if (text[n] !== "-") return false;
      n++;
    }
    const [high, low] = [hexDigit(text, n), hexDigit(text, n + 1)];
    if (high < 0 || low < 0) return false;
    bytes[at++] = (high << 4) | low;
  }
  return true;
}

function writeText(text: string): void {
  if (text.length <= MAX_SHORT) {
    const start = at;
    let n = 0;
    for (let unit = 0; n < text.length && (unit = text.charCodeAt(n)) < 128; n++) bytes[at++] = unit;
    if (n === text.length) return;
    at = start;
  }
  at += bytes.write(text, at);
}

/** How a type is encoded. `write` returns false if only PostgreSQL itself can parse the value. */
interface BinaryType {
  oid: number;
  size(value: ColumnValue): number;
  write(value: ColumnValue): boolean;
}
const isInteger = (value: ColumnValue): value is number => Number.isSafeInteger(value);

const TYPES: Record<string, BinaryType> = {
  text: {
    oid: 25,
    size: (value) => (typeof value === "string" ? value.length * BYTES_PER_UNIT : 0),
    write: (value) => typeof value === "string" && (writeText(value), true),
  },
  uuid: { oid: 2950, size: () => 16, write: (value) => typeof value === "string" && writeUuid(value) },
  boolean: {
    oid: 16,
    size: () => 1,
    write(value) {
      bytes[at++] = value === true ? 1 : 0;
      return typeof value === "boolean";
    },
  },
  integer: {
    oid: 23,
    size: () => 4,
    write(value) {
      if (!isInteger(value) || (value | 0) !== value) return false;
      at = bytes.writeInt32BE(value, at);
      return true;
    },
  },
  bigint: { oid: 20, size: () => 8, write: (value) => isInteger(value) && (writeInt64(value), true) },
  "timestamp with time zone": {
    oid: 1184,
    size: () => 8,
    write: (value) =>
      value instanceof Date && isInteger(value.getTime()) && (writeInt64((value.getTime() - EPOCH_MS) * 1000), true),
  },
};

/** Writes a value with its length. Copies the previous one if it is equal. */
function writeElement(
  type: BinaryType,
  value: ColumnValue,
  previous: { value: ColumnValue | undefined; at: number },
): boolean {
  if (value === null) {
    reserve(4);
    at = bytes.writeInt32BE(NULL_LENGTH, at);
    return true;
  }
  const start = at;
  if (value === previous.value) {
    const size = bytes.readInt32BE(previous.at) + 4;
    reserve(size);
    bytes.copyWithin(at, previous.at, previous.at + size);
    at += size;
  } else {
    reserve(4 + type.size(value));
    at += 4;
    if (!type.write(value)) return false;
    bytes.writeInt32BE(at - start - 4, start);
    previous.value = value;
    previous.at = start;
  }
  return true;
}

/** Undefined if a value cannot be encoded. */
function binary(type: BinaryType, rows: Row[], column: string): Buffer | undefined {
  at = HEADER;
  let hasNull = 0;
  const previous = { value: undefined, at: 0 };
  for (const row of rows) {
    const value = row[column] ?? null;
    if (value === null) hasNull = 1;
    if (!writeElement(type, value, previous)) return undefined;
  }
  // dimensions, whether there are nulls, type, length, first index
  for (const [n, field] of [1, hasNull, type.oid, rows.length, 1].entries()) bytes.writeInt32BE(field, n * 4);
  const array = Buffer.from(bytes.subarray(0, at));
  if (bytes.length > MAX_KEPT_BYTES) bytes = Buffer.allocUnsafe(FIRST_BYTES);
  return array;
}

function element(value: ColumnValue | undefined): string {
  if (value === null || value === undefined) return "NULL";
  if (typeof value === "string") return `"${value.replace(/\\/g, "\\\\").replace(/"/g, '\\"')}"`;
  return value instanceof Date ? `"${value.toISOString()}"` : String(value);
}

/** The column's values in PostgreSQL's binary format, or as a literal if the type or a value cannot be encoded. `rows` must not be empty. */
export function columnArray(type: string, rows: Row[], column: string): Buffer | string {
  const known = TYPES[type];
  return (known && binary(known, rows, column)) ?? `{${rows.map((row) => element(row[column])).join(",")}}`;
}
