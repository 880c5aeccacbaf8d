import { mkdir, writeFile } from "node:fs/promises";
import { dirname, extname, join } from "node:path";
import { progress } from "../tools/progress.ts";
import { median } from "../tools/stats.ts";
import { runProgram } from "./runProgram.ts";
import { reportDocx, reportHtml, reportPdf } from "./report.ts";

const ROUNDS = 3;
const PAGES = 300;
const LONG_PAGES = 600;
export const LONG_FILE = "long.pdf";
const examples = join(dirname(dirname(dirname(import.meta.dirname))), "examples");
const readOnce = join(import.meta.dirname, "readOnce.ts");

export interface ReadMeasurements {
  file: string;
  pages: number;
  command: string;
  /** Milliseconds of the whole process, one figure for each round. */
  ms: number[];
  /** Milliseconds of the reading alone, with warm code, one figure for each round; empty for other programs. */
  warm_ms: number[];
  peak_mib: number | null;
}

interface Program {
  name: string;
  types: string[];
  program: string;
  args(path: string): string[];
}

const PROGRAMS: Program[] = [
  { name: "ours", types: [".pdf", ".docx", ".html"], program: process.execPath, args: (path) => [readOnce, path] },
  { name: "pdftotext", types: [".pdf"], program: "pdftotext", args: (path) => ["-layout", path, "-"] },
  { name: "pandoc", types: [".docx", ".html"], program: "pandoc", args: (path) => [path, "--to", "gfm"] },
];

const writeFiles = async (folder: string): Promise<{ path: string; file: string; pages: number }[]> => {
  await mkdir(folder, { recursive: true });
  const reports = [
    { file: "report.pdf", pages: PAGES, bytes: reportPdf(PAGES) },
    { file: "report.docx", pages: PAGES, bytes: reportDocx(PAGES) },
    { file: "report.html", pages: PAGES, bytes: reportHtml(PAGES) },
    { file: LONG_FILE, pages: LONG_PAGES, bytes: reportPdf(LONG_PAGES) },
  ];
  for (const { file, bytes } of reports) await writeFile(join(folder, file), bytes);
  return [
    { path: join(examples, "handbook.pdf"), file: "handbook.pdf", pages: 5 },
    ...reports.map(({ file, pages }) => ({ path: join(folder, file), file, pages })),
  ];
};

/** Reads files with this service's reader and with common programs, in turn. */
export const benchReading = async (folder: string): Promise<ReadMeasurements[]> => {
  const reads: ReadMeasurements[] = [];
  for (const { path, file, pages } of await writeFiles(folder)) {
    for (let round = 1; round <= ROUNDS; round++) {
      for (const { name, program, args } of PROGRAMS.filter(({ types }) => types.includes(extname(path)))) {
        progress(`reading ${file}, round ${round} of ${ROUNDS}: ${name}`);
        const measured = await runProgram(program, args(path));
        if (!measured) continue;
        let entry = reads.find((read) => read.file === file && read.command === name);
        if (!entry) reads.push((entry = { file, pages, command: name, ms: [], warm_ms: [], peak_mib: null }));
        entry.ms.push(measured.ms);
        entry.peak_mib = Math.max(entry.peak_mib ?? 0, measured.peak_mib ?? 0) || null;
        if (name !== "ours") continue;
        const { warm_ms, peak_mib } = JSON.parse(measured.output) as { warm_ms: number; peak_mib: number };
        entry.warm_ms.push(warm_ms);
        entry.peak_mib = peak_mib;
        // Our process reads the file twice; only the first time counts.
        entry.ms[entry.ms.length - 1]! -= warm_ms;
      }
    }
  }
  return reads;
};

/** How long our process takes for a file from a cold start. */
export const secondsFor = (reads: ReadMeasurements[], wanted: string): number => {
  const ours = reads.find(({ file, command }) => file === wanted && command === "ours");
  return ours ? median(ours.ms) / 1_000 : Number.NaN;
};

/** Our pages per second divided by another program's, for whole processes; undefined when the other is not installed. */
export const speedRatio = (reads: ReadMeasurements[], file: string, other: string): number | undefined => {
  const find = (command: string) => reads.find((read) => read.file === file && read.command === command);
  const [ours, theirs] = [find("ours"), find(other)];
  return ours && theirs && median(theirs.ms.map((ms, round) => ms / ours.ms[round]!));
};
