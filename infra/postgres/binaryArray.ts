const NULL_LENGTH = -1;
const HEADER = 20;

/** OIDs of PostgreSQL's types. */
const TYPES = { bytea: 17, integer: 23, text: 25 };

const byteLength = (value: string | Buffer | number | null): number =>
  value === null
    ? 0
    : typeof value === "string"
      ? Buffer.byteLength(value)
      : typeof value === "number"
        ? 4
        : value.length;

/** An array in PostgreSQL's binary format, which `pg` sends unchanged: nothing needs escaping. */
export function binaryArray(type: keyof typeof TYPES, values: readonly (string | Buffer | number | null)[]): Buffer {
  const bytes = Buffer.allocUnsafe(values.reduce<number>((sum, value) => sum + 4 + byteLength(value), HEADER));
  bytes.writeInt32BE(values.length > 0 ? 1 : 0, 0);
  bytes.writeInt32BE(values.includes(null) ? 1 : 0, 4);
  bytes.writeInt32BE(TYPES[type], 8);
  if (values.length === 0) return bytes.subarray(0, 12);
  bytes.writeInt32BE(values.length, 12);
  // the index of the first element
  bytes.writeInt32BE(1, 16);
  let at = HEADER;
  for (const value of values) {
    bytes.writeInt32BE(value === null ? NULL_LENGTH : byteLength(value), at);
    at += 4;
    if (value === null) continue;
    if (typeof value === "number") at = bytes.writeInt32BE(value, at);
    else at += typeof value === "string" ? bytes.write(value, at) : value.copy(bytes, at);
  }
  return bytes;
}
