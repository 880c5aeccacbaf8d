import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { formatCell, verdictTable, type Report, type Table } from "./report.ts";

const PAGE = new URL("../../../docs/benchmarks.md", import.meta.url);

const git = (...words: string[]): string => execFileSync("git", words, { encoding: "utf8" }).trim();

/** The commit that was measured; `+` when files differ from it. */
function measuredCommit(): string {
  const changes = git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!docs");
  return `${git("rev-parse", "--short", "HEAD")}${changes === "" ? "" : "+"}`;
}

const toMarkdown = ({ title, head, rows }: Table): string =>
  [`*${title}*`, "", head, head.map(() => "---"), ...rows.map((row) => row.map(formatCell))]
    .map((line) => (Array.isArray(line) ? `| ${line.join(" | ")} |` : line))
    .join("\n");

/** Where the block of a bench begins and ends on the page. Throws when it has none. */
function findBlock(page: string, name: string): { begin: string; from: number; to: number } {
  const [begin, end] = [`<!-- begin ${name} -->`, `<!-- end ${name} -->`];
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`docs/benchmarks.md has no block between ${begin} and ${end}`);
  return { begin, from, to };
}

/** Throws if `record` could not store a run. Call it before the minutes that the run takes. */
export const requireBlock = (name: string): void => void findBlock(readFileSync(PAGE, "utf8"), name);

/**
 * Replaces the block of a run in `docs/benchmarks.md` by these reports, with commit, date and machine. People write the text around
 * the blocks, but never the figures. Throws if the page has no block of that name.
 */
export function record(name: string, reports: Report[]): void {
  const page = readFileSync(PAGE, "utf8");
  const { begin, from, to } = findBlock(page, name);
  const date = new Date().toISOString().slice(0, 10);
  const made = `Commit ${measuredCommit()}, ${date}, ${availableParallelism()} cores, Node ${process.versions.node}.`;
  const tables = reports.flatMap(({ tables: measured, verdicts }) => [...measured, verdictTable(verdicts)]);
  const block = [begin, made, ...tables.map(toMarkdown)].join("\n\n");
  writeFileSync(PAGE, `${page.slice(0, from)}${block}\n\n${page.slice(to)}`);
}
