export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** Canonical JSON (RFC 8785): names sorted by UTF-16 units, no white space. */
export function canonicalJson(value: Json): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  const members = Object.keys(value)
    .toSorted()
    .map((name) => `${JSON.stringify(name)}:${canonicalJson(value[name]!)}`);
  return `{${members.join(",")}}`;
}
