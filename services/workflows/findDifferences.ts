/** JSON pointers to at most five places where two values differ. */
export function findDifferences(a: unknown, b: unknown, path = "", found: string[] = []): string[] {
  if (found.length >= 5 || Object.is(a, b)) return found;
  const isTree = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;
  if (!isTree(a) || !isTree(b) || Array.isArray(a) !== Array.isArray(b)) {
    found.push(path || "/");
    return found;
  }
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
    if (found.length >= 5) break;
    findDifferences(a[key], b[key], `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`, found);
  }
  return found;
}
