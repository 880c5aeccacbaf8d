/**
 * Whether a path starts with a pattern of robots.txt: `*` matches any text, and `$` at the end matches only the end of the path.
 * Takes time proportional to both lengths for each `*`.
 */
export function matchesPath(pattern: string, path: string): boolean {
  const isWhole = pattern.endsWith("$");
  const [first, ...parts] = (isWhole ? pattern.slice(0, -1) : pattern).split("*") as [string, ...string[]];
  if (!path.startsWith(first)) return false;
  let at = first.length;
  for (const part of parts) {
    const found = path.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  if (!isWhole || at === path.length) return true;
  // the last part may occur again further on
  const last = parts.at(-1);
  return last !== undefined && path.length - last.length >= at && path.endsWith(last);
}

/** The part of an address that patterns match. */
export const pathOf = ({ pathname, search }: URL): string => pathname + search;
