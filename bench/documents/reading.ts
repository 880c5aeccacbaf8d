import { mkdir, writeFile } from "node:fs/promises";
import { dirname, extname, join } from "node:path";
import { progress } from "../tools/progress.ts";
import { median } from "../tools/stats.ts";
import { measure } from "./measured.ts";
import { reportDocx, reportHtml, reportPdf } from "./report.ts";

const ROUNDS = 3;
const PAGES = 300;
const examples = join(dirname(dirname(import.meta.dirname)), "examples");
const readOnce = join(import.meta.dirname, "readOnce.ts");

export interface Read {
  file: string;
  pages: number;
  way: string;
  /** Of each round: the whole process, from start to end. */
  ms: number[];
  /** Of each round: the reading alone, with warm code; empty for other programs. */
  warm_ms: number[];
  peak_mib: number | null;
}

interface Way {
  name: string;
  reads: string[];
  program: string;
  args(path: string): string[];
}

const WAYS: Way[] = [
  { name: "ours", reads: [".pdf", ".docx", ".html"], program: process.execPath, args: (path) => [readOnce, path] },
  { name: "pdftotext", reads: [".pdf"], program: "pdftotext", args: (path) => ["-layout", path, "-"] },
  { name: "pandoc", reads: [".docx", ".html"], program: "pandoc", args: (path) => [path, "--to", "gfm"] },
];

const filesIn = async (folder: string): Promise<{ path: string; file: string; pages: number }[]> => {
  await mkdir(folder, { recursive: true });
  const made = { "report.pdf": reportPdf(PAGES), "report.docx": reportDocx(PAGES), "report.html": reportHtml(PAGES) };
  for (const [name, bytes] of Object.entries(made)) await writeFile(join(folder, name), bytes);
  return [
    { path: join(examples, "handbook.pdf"), file: "handbook.pdf", pages: 5 },
    ...Object.keys(made).map((file) => ({ path: join(folder, file), file, pages: PAGES })),
  ];
};

/** Files read by this service and by the programs that people read them with, in turn. */
export const benchReading = async (folder: string): Promise<Read[]> => {
  const reads: Read[] = [];
  for (const { path, file, pages } of await filesIn(folder)) {
    for (let round = 1; round <= ROUNDS; round++) {
      for (const { name, program, args } of WAYS.filter((way) => way.reads.includes(extname(path)))) {
        progress(`reading ${file}, round ${round} of ${ROUNDS}: ${name}`);
        const measured = await measure(program, args(path));
        if (!measured) continue;
        let entry = reads.find((read) => read.file === file && read.way === name);
        if (!entry) reads.push((entry = { file, pages, way: name, ms: [], warm_ms: [], peak_mib: null }));
        entry.ms.push(measured.ms);
        entry.peak_mib = Math.max(entry.peak_mib ?? 0, measured.peak_mib ?? 0) || null;
        if (name !== "ours") continue;
        const { warm_ms, peak_mib } = JSON.parse(measured.output) as { warm_ms: number; peak_mib: number };
        entry.warm_ms.push(warm_ms);
        entry.peak_mib = peak_mib;
        // Its process reads the file twice; compared is the first time.
        entry.ms[entry.ms.length - 1]! -= warm_ms;
      }
    }
  }
  return reads;
};

/** How many times as many pages a second as another program, whole processes; undefined where that is not installed. */
export const ratioTo = (reads: Read[], file: string, other: string): number | undefined => {
  const of = (way: string) => reads.find((read) => read.file === file && read.way === way);
  const [ours, theirs] = [of("ours"), of(other)];
  return ours && theirs && median(theirs.ms.map((ms, round) => ms / ours.ms[round]!));
};
