import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript-5";
import { SPACE_RULES, STORES, type SpaceRule } from "#events/freeSpace.ts";
import { readSettings } from "#infra/config.ts";
import { LIMITS, NAMES_FIELD, type Limit } from "./limits.ts";

const ROOT = join(import.meta.dirname, "../..");
export const LIMITS_PAGE = join(ROOT, "docs/reference/limits.md");

const HEAD = `# Limits

Anything beyond a limit is refused with the code in the last column ([Error codes](errors.md) explains it), or cut as the row says. Values with a setting can be changed ([Settings](settings.md)). What an
organization sets for itself is in [Spending](../spending.md) and [Workflows](../workflows.md).
This page is made from the code by \`node dev/checks/freeze.ts\`.
`;

const parse = (path: string): ts.SourceFile =>
  ts.createSourceFile(path, readFileSync(join(ROOT, path), "utf8"), ts.ScriptTarget.Latest, true);

/** The top-level constants of a file. */
function constantsOf(file: ts.SourceFile): Map<string, ts.Expression> {
  const declared = file.statements.filter(ts.isVariableStatement).flatMap((one) => one.declarationList.declarations);
  return new Map(
    declared.flatMap(({ name, initializer }) =>
      ts.isIdentifier(name) && initializer ? [[name.text, initializer]] : [],
    ),
  );
}

/** The units that limits in any file may use. */
const UNITS = constantsOf(parse("events/units.ts"));

/** Evaluates an arithmetic expression. */
function evaluate(node: ts.Expression, constants: Map<string, ts.Expression>): number {
  if (ts.isNumericLiteral(node)) return Number(node.text);
  if (ts.isParenthesizedExpression(node)) return evaluate(node.expression, constants);
  if (ts.isIdentifier(node) && constants.has(node.text)) return evaluate(constants.get(node.text)!, constants);
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.AsteriskToken)
    return evaluate(node.left, constants) * evaluate(node.right, constants);
  throw new Error(`${node.getText()} is no product of numbers`);
}

/** The value of a limit; for a setting, its default. */
function readLimit({ from }: Limit): number {
  const [path = "", name] = from.split("#");
  if (name === undefined) return Number((readSettings({}) as unknown as Record<string, unknown>)[path]);
  const constants = new Map([...UNITS, ...constantsOf(parse(path))]);
  const found = constants.get(name);
  if (!found) throw new Error(`${path} has no constant ${name}`);
  return evaluate(found, constants);
}

const number = new Intl.NumberFormat("en");
const MIB = 1024 * 1024;
function formatBytes(bytes: number): string {
  if (bytes % MIB === 0) return `${number.format(bytes / MIB)} MiB`;
  if (bytes % 1024 === 0) return `${number.format(bytes / 1024)} KiB`;
  return bytes % 1e6 === 0 ? `${number.format(bytes / 1e6)} MB` : `${number.format(bytes)} bytes`;
}

function formatLimit({ unit }: Limit, value: number): string {
  if (unit === "bytes") return formatBytes(value);
  if (unit === "ms") return `${number.format(value / 86_400_000)} days`;
  return `${number.format(value)}${unit && ` ${unit}`}`;
}

const describeEnd = (code: string | null): string =>
  code === null ? "" : code === NAMES_FIELD ? "400, `param` names the field" : `\`${code}\``;

const renderRow = (limit: Limit): string =>
  `| ${limit.what} | ${formatLimit(limit, readLimit(limit))} | ${limit.from.includes("#") ? "" : `\`${limit.from}\``} | ${describeEnd(limit.code)} |\n`;

const SPACE_HEAD = `
## When a disk gets full

New work is refused with 503 \`storage_full\` while a disk that it writes to has less free than this share (\`FREE_DISK_PERCENT\`), and taken again when a fifth more is free. Everything else goes on: reads, decisions, cancellations, deletions, erasures, sign-ins, settings, and the turns, runs and readings under way.

| Refused | Free share needed | Of the disks of |
|---|---|---|
`;

/** The order in which new work is refused. */
function renderSpace(): string {
  const percent = readSettings({}).FREE_DISK_PERCENT;
  const rows = (Object.values(SPACE_RULES) as SpaceRule[]).map(({ what, level, stores }) => {
    const disks = STORES.filter((store) => stores.includes(store)).join(", ");
    return `| ${what} | ${percent[level]} % | ${disks} |\n`;
  });
  return SPACE_HEAD + rows.join("");
}

/** The page about limits, as the code is now. */
export const renderLimitsPage = (): string =>
  HEAD +
  Object.entries(LIMITS)
    .map(
      ([area, limits]) =>
        `\n## ${area}\n\n| Limit | Value | Setting | Beyond it |\n|---|---|---|---|\n${limits.map(renderRow).join("")}`,
    )
    .join("") +
  renderSpace();
