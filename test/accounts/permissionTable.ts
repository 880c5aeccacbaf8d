import { readFileSync } from "node:fs";
import { join } from "node:path";

/* The table of docs/permissions.md, which the tests compare with the service. */

const PAGE = join(import.meta.dirname, "../../docs/permissions.md");

export const HOLDERS = [
  "nobody",
  "owner",
  "admin",
  "builder",
  "approver",
  "viewer",
  "API key",
  "project key",
  "webhook secret",
] as const;
export type Holder = (typeof HOLDERS)[number];

export interface Permission {
  /** `METHOD /path`, as in `/openapi.json`. */
  route: string;
  /** `yes`, `own` (only what belongs to the key's project), or the code of the refusal. */
  holders: Record<Holder, string>;
  /** The product that a key must be enabled for; empty for none. */
  product: string;
}

const cellsOf = (line: string): string[] =>
  line
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim().replaceAll("`", ""));

export function readPermissions(): Permission[] {
  const lines = readFileSync(PAGE, "utf8").split("\n");
  const start = lines.findIndex((line) => line.startsWith("| Route |"));
  const [, ...columns] = cellsOf(lines[start]!);
  const expected = [...HOLDERS, "product"];
  if (columns.join() !== expected.join()) throw new Error(`the columns must be: ${expected.join(", ")}`);
  const rows = lines.slice(start + 2);
  return rows
    .slice(
      0,
      rows.findIndex((line) => !line.startsWith("|")),
    )
    .map((line) => {
      const [route = "", ...cells] = cellsOf(line);
      const holders = Object.fromEntries(HOLDERS.map((holder, at) => [holder, cells[at]])) as Permission["holders"];
      return { route, holders, product: cells[HOLDERS.length] ?? "" };
    });
}
