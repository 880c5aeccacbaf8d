import { randomFillSync } from "node:crypto";
import { FormData } from "undici";
import { progress } from "../tools/progress.ts";
import { randomLines, reportDocx, reportPdf } from "./report.ts";
import type { Service } from "../tools/service.ts";

export const FILES = 100;
const BYTES = 20_000_000;
/** Files that the service reads at the same time. */
const CONCURRENCY = 2;
const SAMPLE_MS = 200;
const EXTRACTIONS = "/api/v1/extractions";

const randomBytes = (bytes: number): Buffer => randomFillSync(Buffer.alloc(bytes));

/** The kinds of files, in turn: a PDF with pictures, a Word file with pictures, plain text, a table. */
const KINDS: ((n: number) => { name: string; bytes: Buffer })[] = [
  () => ({ name: "pages.pdf", bytes: reportPdf(20, () => randomBytes(BYTES / 20)) }),
  () => ({
    name: "pages.docx",
    bytes: reportDocx(
      100,
      Array.from({ length: 19 }, () => randomBytes(1_000_000)),
    ),
  }),
  (n) => ({ name: "lines.txt", bytes: makeText(n, " ") }),
  (n) => ({ name: "table.csv", bytes: makeText(n, ",") }),
];

const makeText = (n: number, separator: string): Buffer => {
  const page = randomLines(n, 200).join(".\n").replaceAll(" ", separator);
  return Buffer.from(`File ${n}\n${`${page}\n`.repeat(Math.ceil(BYTES / page.length))}`).subarray(0, BYTES);
};

export interface Memory {
  /** Mean memory of the service during each quarter of the files, in MiB. */
  quarters: number[];
  peak: number;
  seconds: number;
}

/** Memory of the service and its readers while they read many large files; undefined where there is no /proc. */
export const benchMemory = async (service: Service): Promise<Memory | undefined> => {
  if (service.child.memory() === null) return undefined;
  const samples: { done: number; mib: number }[] = [];
  let done = 0;
  const sampling = setInterval(() => samples.push({ done, mib: service.child.memory() ?? 0 }), SAMPLE_MS);
  const start = performance.now();
  const left = Array.from({ length: FILES }, (_, n) => n).values();
  const work = async (): Promise<void> => {
    for (const n of left) {
      await extract(service, KINDS[n % KINDS.length]!(n));
      done += 1;
      progress(`files of 20 MB: ${done} of ${FILES} done, ${Math.round(samples.at(-1)?.mib ?? 0)} MiB`);
    }
  };
  try {
    await Promise.all(Array.from({ length: CONCURRENCY }, work));
  } finally {
    clearInterval(sampling);
  }
  const quarters = [0, 1, 2, 3].map((quarter) => {
    const inQuarter = samples.filter((sample) => Math.floor((4 * sample.done) / FILES) === quarter);
    return inQuarter.reduce((sum, { mib }) => sum + mib, 0) / inQuarter.length;
  });
  return { quarters, peak: Math.max(...samples.map(({ mib }) => mib)), seconds: (performance.now() - start) / 1_000 };
};

const extract = async ({ call, until }: Service, { name, bytes }: { name: string; bytes: Buffer }): Promise<void> => {
  const form = new FormData();
  form.set("file", new File([new Uint8Array(bytes)], name));
  const { id } = await call("POST", EXTRACTIONS, form, [202]);
  const record = await until(name, 100, async () => {
    const { status, error } = await call("GET", `${EXTRACTIONS}/${id}`, undefined, [200]);
    return status === "ready" || status === "failed" ? { status, error } : undefined;
  });
  if (record.status !== "ready") throw new Error(`${name} could not be read: ${record.error}`);
  await call("DELETE", `${EXTRACTIONS}/${id}`, undefined, [204]);
};
