import { join } from "node:path";
import { dataFolder } from "../tools/dataFolder.ts";
import { untilInterrupted } from "../tools/untilInterrupted.ts";
import { progress } from "../tools/progress.ts";
import type { Report, Verdict } from "../tools/report.ts";
import { median, percentile, toSignificant } from "../tools/stats.ts";
import { benchMemory, FILES, type Memory } from "./memory.ts";
import { benchReading, LONG_FILE, secondsFor, speedRatio, type ReadMeasurements } from "./reading.ts";
import { measureBatch, BATCH_SIZES, measureSingle, type BatchTimes } from "./searchable.ts";
import { benchScans } from "./scans.ts";
import { benchTables, tablePrecision, tableRecall, type JudgedTemplate } from "./tables.ts";
import { benchTexts, TWO_COLUMNS, type JudgedTexts } from "./texts.ts";
import { startService, type Service } from "../tools/service.ts";

/** Documents: how fast the service reads files, how much memory that takes, and how soon search finds them. */
export const benchDocuments = async (): Promise<Report> => {
  const folder = await dataFolder();
  let service: Service | undefined;
  const measure = async (): Promise<Report> => {
    const judged = await benchTables();
    const scans = await benchScans();
    const texts = await benchTexts(join(folder.path, "made"));
    const reads = await benchReading(join(folder.path, "files"));
    progress("starting the service");
    service = await startService();
    const single = await measureSingle(service);
    const batches: BatchTimes[] = [];
    for (const documents of BATCH_SIZES) batches.push(await measureBatch(service, documents));
    return report({ judged, scans, texts, reads, single, batches, memory: await benchMemory(service) });
  };
  try {
    return await untilInterrupted(measure);
  } finally {
    progress("stopping");
    await service?.stop();
    await folder.remove();
  }
};

interface Measurements {
  judged: JudgedTemplate[];
  scans: JudgedTemplate[];
  texts: JudgedTexts[];
  reads: ReadMeasurements[];
  single: number[];
  batches: BatchTimes[];
  memory: Memory | undefined;
}

/** What was read, of what the files are known to contain. */
const contentTables = ({ judged, scans, texts }: Measurements): Report["tables"] => [
  {
    title: "Tables in files with known content (shares of cells; 40 files of each kind)",
    head: [
      "",
      "beside their label",
      "and under their header",
      "found cells that are right",
      "values beside their label",
    ],
    rows: [...judged, ...scans].map((one) => [one.template, one.inRow, one.underHeader, one.precision, one.pairs]),
  },
  {
    title: "Files with known text (similarity to it; 40 files of each kind)",
    head: ["", "text in its order", "headings", "tables"],
    rows: texts.map(({ kind, text, headings, tables }) => [kind, text, headings, tables]),
  },
];

const report = (measured: Measurements): Report => {
  const { judged, texts, reads, single, batches, memory } = measured;
  const rate = (pages: number, ms: number[]) => (ms.length > 0 ? (1_000 * pages) / median(ms) : null);
  return {
    bench: "documents",
    tables: [
      ...contentTables(measured),
      {
        title:
          "Reading, each program in its own process (pages per second; Word and HTML: 300 parts of a report; long.pdf: 600 pages of it)",
        head: ["", "", "pages", "from a cold start", "warm", "peak memory (MiB)"],
        rows: reads.map(({ file, command, pages, ms, warm_ms, peak_mib }) => [
          file,
          command,
          pages,
          rate(pages, ms),
          rate(pages, warm_ms),
          peak_mib,
        ]),
      },
      {
        title: "From upload to search, one document at a time (milliseconds)",
        head: ["", "p50", "p99"],
        rows: [["until found", median(single), percentile(single, 0.99)]],
      },
      {
        title: "Short documents uploaded at once over 16 connections (seconds)",
        head: ["documents", "all accepted", "all searchable", "per second"],
        rows: batches.map(({ documents, accepted, searchable }) => [
          String(documents),
          accepted,
          searchable,
          documents / searchable,
        ]),
      },
      {
        title: `Memory of the Node processes during the reading of ${FILES} files of 20 MB, two at a time (MiB, mean of each quarter)`,
        head: ["", "first", "second", "third", "last", "peak", "seconds"],
        rows: memory ? [["resident", ...memory.quarters, memory.peak, memory.seconds]] : [],
      },
    ],
    verdicts: [
      ...tableVerdicts(judged),
      ...textVerdicts(texts),
      ...readingVerdicts(reads, batches),
      ...memoryVerdicts(memory),
    ],
    figures: {
      searchable_p50_ms: toSignificant(median(single)),
      crowds: batches.map(({ documents, searchable }) => ({ documents, seconds: toSignificant(searchable) })),
      memory_mib: memory && { quarters: memory.quarters.map(Math.round), peak: Math.round(memory.peak) },
    },
  };
};

const tableVerdicts = (judged: JudgedTemplate[]): Verdict[] => [
  { name: "table_cells_found", value: tableRecall(judged), floor: 0.9, aim: 0.97, better: "more" },
  { name: "table_cells_right", value: tablePrecision(judged), floor: 0.9, aim: 0.97, better: "more" },
];

/** Files of other programs have no floor, because they are not made everywhere. */
const textVerdicts = (texts: JudgedTexts[]): Verdict[] =>
  texts
    .filter(({ kind }) => kind === TWO_COLUMNS)
    .map(({ text }): Verdict => {
      return { name: "text_of_two_columns", value: text ?? Number.NaN, floor: 0.95, aim: 0.98, better: "more" };
    });

const readingVerdicts = (reads: ReadMeasurements[], batches: BatchTimes[]): Verdict[] => {
  const ratios: [name: string, value: number | undefined, floor: number, aim: number][] = [
    ["pdf_pages_of_pdftotext", speedRatio(reads, "report.pdf", "pdftotext"), 0.05, 0.25],
    ["docx_pages_of_pandoc", speedRatio(reads, "report.docx", "pandoc"), 1, 2],
    ["html_pages_of_pandoc", speedRatio(reads, "report.html", "pandoc"), 1, 2],
  ];
  const speeds = ratios.flatMap(([name, value, floor, aim]): Verdict[] =>
    value === undefined ? [] : [{ name, value, floor, aim, better: "more" }],
  );
  const seconds = batches.at(-1)?.searchable ?? Number.NaN;
  return [
    ...speeds,
    { name: "seconds_for_600_pages", value: secondsFor(reads, LONG_FILE), floor: 20, aim: 5, better: "less" },
    { name: "seconds_until_1000_are_searchable", value: seconds, floor: 60, aim: 6, better: "less" },
  ];
};

const memoryVerdicts = (memory: Memory | undefined): Verdict[] => {
  const [first = Number.NaN] = memory?.quarters ?? [];
  const value = (memory?.quarters.at(-1) ?? Number.NaN) / first;
  return memory ? [{ name: "memory_of_last_quarter_to_first", value, floor: 1.2, aim: 1.05, better: "less" }] : [];
};
