import { randomFillSync } from "node:crypto";
import { FormData } from "undici";
import { progress } from "../tools/progress.ts";
import { linesOf, reportDocx, reportPdf } from "./report.ts";
import type { Service } from "../tools/service.ts";

export const FILES = 100;
const BYTES = 20_000_000;
/** Files under way at the same time. */
const AT_ONCE = 2;
const LOOK_MS = 200;
const EXTRACTIONS = "/api/v1/extractions";

const noise = (bytes: number): Buffer => randomFillSync(Buffer.alloc(bytes));

/** One kind after the other: pages with pictures, a document with pictures, plain text, a table. */
const KINDS: ((n: number) => { name: string; bytes: Buffer })[] = [
  () => ({ name: "pages.pdf", bytes: reportPdf(20, () => noise(BYTES / 20)) }),
  () => ({
    name: "pages.docx",
    bytes: reportDocx(
      100,
      Array.from({ length: 19 }, () => noise(1_000_000)),
    ),
  }),
  (n) => ({ name: "lines.txt", bytes: textOf(n, " ") }),
  (n) => ({ name: "table.csv", bytes: textOf(n, ",") }),
];

const textOf = (n: number, joint: string): Buffer => {
  const page = linesOf(n, 200).join(".\n").replaceAll(" ", joint);
  return Buffer.from(`File ${n}\n${`${page}\n`.repeat(Math.ceil(BYTES / page.length))}`).subarray(0, BYTES);
};

export interface Memory {
  /** Mean of what the service held while each quarter of the files was read, in MiB. */
  quarters: number[];
  peak: number;
  seconds: number;
}

/** What the service and its readers hold while many large files are read; undefined where there is no /proc. */
export const benchMemory = async (service: Service): Promise<Memory | undefined> => {
  if (service.child.memory() === null) return undefined;
  const samples: { done: number; mib: number }[] = [];
  let done = 0;
  const looking = setInterval(() => samples.push({ done, mib: service.child.memory() ?? 0 }), LOOK_MS);
  const start = performance.now();
  const left = Array.from({ length: FILES }, (_, n) => n).values();
  const work = async (): Promise<void> => {
    for (const n of left) {
      await extract(service, KINDS[n % KINDS.length]!(n));
      done += 1;
      progress(`files of 20 MB: ${done} of ${FILES} are read, ${Math.round(samples.at(-1)?.mib ?? 0)} MiB`);
    }
  };
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  } finally {
    clearInterval(looking);
  }
  const quarters = [0, 1, 2, 3].map((quarter) => {
    const within = samples.filter((sample) => Math.floor((4 * sample.done) / FILES) === quarter);
    return within.reduce((sum, { mib }) => sum + mib, 0) / within.length;
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
