import { join } from "node:path";
import { dataFolder } from "../tools/folder.ts";
import { orInterrupted } from "../tools/interrupted.ts";
import { progress } from "../tools/progress.ts";
import type { Report, Verdict } from "../tools/report.ts";
import { median, percentile, rounded } from "../tools/stats.ts";
import { benchMemory, FILES, type Memory } from "./memory.ts";
import { benchReading, ratioTo, type Read } from "./reading.ts";
import { crowd, CROWDS, oneByOne, type Crowd } from "./searchable.ts";
import { startService, type Service } from "../tools/service.ts";

/** Documents: how fast files are read and at what cost of memory, and how soon search finds them. */
export const benchDocuments = async (): Promise<Report> => {
  const folder = await dataFolder();
  let service: Service | undefined;
  const measure = async (): Promise<Report> => {
    const reads = await benchReading(join(folder.path, "files"));
    progress("starting the service");
    service = await startService();
    const single = await oneByOne(service);
    const crowds: Crowd[] = [];
    for (const documents of CROWDS) crowds.push(await crowd(service, documents));
    return report(reads, single, crowds, await benchMemory(service));
  };
  try {
    return await orInterrupted(measure);
  } finally {
    progress("stopping");
    await service?.stop();
    await folder.remove();
  }
};

const report = (reads: Read[], single: number[], crowds: Crowd[], memory: Memory | undefined): Report => {
  const rate = (pages: number, ms: number[]) => (ms.length > 0 ? (1_000 * pages) / median(ms) : null);
  return {
    bench: "documents",
    tables: [
      {
        title: "Reading, each program in a process of its own (pages per second; Word and HTML: 300 parts of a report)",
        head: ["", "", "pages", "from a cold start", "warm", "peak memory (MiB)"],
        rows: reads.map(({ file, way, pages, ms, warm_ms, peak_mib }) => [
          file,
          way,
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
        title: "Short documents at once over 16 connections (seconds)",
        head: ["documents", "all accepted", "all searchable", "per second"],
        rows: crowds.map(({ documents, accepted, searchable }) => [
          String(documents),
          accepted,
          searchable,
          documents / searchable,
        ]),
      },
      {
        title: `Memory of the Node processes while ${FILES} files of 20 MB are read, two at a time (MiB, mean of each quarter)`,
        head: ["", "first", "second", "third", "last", "peak", "seconds"],
        rows: memory ? [["held", ...memory.quarters, memory.peak, memory.seconds]] : [],
      },
    ],
    verdicts: [...verdictsOf(reads, crowds), ...memoryVerdicts(memory)],
    figures: {
      searchable_p50_ms: rounded(median(single)),
      crowds: crowds.map(({ documents, searchable }) => ({ documents, seconds: rounded(searchable) })),
      memory_mib: memory && { quarters: memory.quarters.map(Math.round), peak: Math.round(memory.peak) },
    },
  };
};

const verdictsOf = (reads: Read[], crowds: Crowd[]): Verdict[] => {
  const ratios: [name: string, value: number | undefined, floor: number, aim: number][] = [
    ["pdf_pages_of_pdftotext", ratioTo(reads, "report.pdf", "pdftotext"), 0.05, 0.25],
    ["docx_pages_of_pandoc", ratioTo(reads, "report.docx", "pandoc"), 1, 2],
    ["html_pages_of_pandoc", ratioTo(reads, "report.html", "pandoc"), 1, 2],
  ];
  const read = ratios.flatMap(([name, value, floor, aim]): Verdict[] =>
    value === undefined ? [] : [{ name, value, floor, aim, better: "more" }],
  );
  const seconds = crowds.at(-1)?.searchable ?? Number.NaN;
  return [...read, { name: "seconds_until_1000_are_searchable", value: seconds, floor: 60, aim: 20, better: "less" }];
};

const memoryVerdicts = (memory: Memory | undefined): Verdict[] => {
  const [first = Number.NaN] = memory?.quarters ?? [];
  const value = (memory?.quarters.at(-1) ?? Number.NaN) / first;
  return memory ? [{ name: "memory_of_last_quarter_to_first", value, floor: 1.2, aim: 1.05, better: "less" }] : [];
};
