/** What a value takes in JSON beside its characters: quotes, commas, numbers. */
const OVERHEAD = 8;

/** Roughly the UTF-16 units of a value's JSON. */
export function estimateSize(value: unknown): number {
  if (typeof value === "string") return OVERHEAD + value.length;
  if (typeof value !== "object" || value === null) return OVERHEAD;
  let size = OVERHEAD;
  if (Array.isArray(value)) for (const item of value) size += estimateSize(item);
  else for (const [key, item] of Object.entries(value)) size += key.length + estimateSize(item);
  return size;
}
