/** Nesting of messages that are copied part by part. Deeper ones are large. */
const MAX_DEPTH = 3;

/** Whether a value and what it contains are texts, numbers, lists and objects without a class. */
const isPlain = (value: unknown, depth = 0): boolean => {
  if (typeof value !== "object" || value === null) return typeof value !== "function" && typeof value !== "symbol";
  const prototype: unknown = Object.getPrototypeOf(value);
  if (depth >= MAX_DEPTH || (prototype !== Object.prototype && prototype !== Array.prototype)) return false;
  return Object.values(value).every((part) => isPlain(part, depth + 1));
};

const copyPlain = (value: unknown): unknown => {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(copyPlain);
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, copyPlain(part)]));
};

/**
 * A copy of a message between the halves of pdf.js. There are ten per page, most of them small, and copying
 * those is faster than cloning. `transfer`: the buffers that are moved instead.
 */
export const copyMessage = (message: unknown, transfer: ArrayBuffer[]): unknown =>
  transfer.length === 0 && isPlain(message) ? copyPlain(message) : structuredClone(message, { transfer });
