import { describe, expect, test } from "vitest";
import { StorageUnavailable } from "#events/ports.ts";
import { ScannedFile, UnreadableFile, type FileToRead, type FileText } from "../../reading/reader.ts";
import { createFairSemaphore } from "../../sharing/fairSemaphore.ts";
import type { ThingBlobs } from "../../thingBlobs.ts";
import type { JobDeps, RecognitionDeps } from "./job.ts";
import { readFile } from "./readFile.ts";

const text = (markdown: string, more: Partial<FileText> = {}): FileText => ({
  markdown: Buffer.from(markdown),
  passages: Buffer.alloc(0),
  page_count: 3,
  chunk_count: 1,
  characters: markdown.length,
  ...more,
});
const PARTLY_SCANNED = text("typed", { scanned: 2, warnings: [{ code: "page_without_text", pages: [2, 3] }] });
const RECOGNIZED = text("typed and read", {
  recognized: 1,
  warnings: [
    { code: "read_from_picture", pages: [2], confidence: [90] },
    { code: "page_without_text", pages: [3] },
  ],
});

const onePermit = () => createFairSemaphore({ total: 1, perTenant: 1 });

interface Lanes {
  /** The result of reading without recognition, and of reading with it. */
  plain: FileText | Error;
  recognized?: FileText | Error;
  /** Pages left in today's budget. */
  budget?: number;
  isOff?: boolean;
  /** Reads of the file before the disk can be used. */
  failingReads?: number;
  /** The languages of the organization. */
  own?: string[] | null;
  /** Those that the file was read with before. */
  before?: string[];
}

function openLanes({ plain, recognized = RECOGNIZED, budget = 100, isOff = false, failingReads = 0, ...of }: Lanes) {
  const steps: string[] = [];
  const reports: string[] = [];
  const sought: (string[] | undefined)[] = [];
  let [left, failing] = [budget, failingReads];
  const give = (found: FileText | Error) => (found instanceof Error ? Promise.reject(found) : Promise.resolve(found));
  const recognition: RecognitionDeps = {
    openFiles: onePermit(),
    budget: {
      take: (_, pages) => {
        const granted = Math.min(left, pages);
        left -= granted;
        return Promise.resolve(granted);
      },
      giveBack: (_, pages) => Promise.resolve(void (left += pages)),
    },
    languages: {
      standard: ["eng"],
      installed: (languages) => [...languages],
      find: () => Promise.resolve(of.own ?? null),
    },
    report: (stream, { pages_read, pages_total }) => void reports.push(`${stream} ${pages_read}/${pages_total}`),
    reader: {
      read: ({ recognize, languages }: FileToRead) => {
        steps.push(`recognize ${recognize}`);
        sought.push(languages);
        return give(recognized);
      },
    },
  };
  const deps = {
    openFiles: onePermit(),
    reader: {
      read: () => {
        steps.push("read");
        return give(plain);
      },
    },
    recognition: isOff ? undefined : recognition,
  } as unknown as JobDeps;
  const stopping = new AbortController();
  const file = {
    blobs: {
      get: async () => {
        if (failing-- > 0) throw new StorageUnavailable("The disk of the blobs cannot be used");
        return Buffer.from("file");
      },
    } as unknown as ThingBlobs,
    blob: "b",
    mime_type: "application/pdf",
    slot: { end: () => void steps.push("turn ends"), stopping: stopping.signal },
    ocr_languages: of.before,
  };
  const read = () => readFile(deps, { organization_id: "o1", stream: "document-1" }, file);
  return { steps, reports, sought, stopping, recognition, left: () => left, read };
}

describe("Reading a file", () => {
  test("with text alone never enters the lane of text recognition", async () => {
    const { read, steps } = openLanes({ plain: text("typed") });
    expect((await read()).markdown.toString()).toBe("typed");
    expect(steps).toEqual(["read"]);
  });

  test("waits while the disk cannot be read, instead of losing an attempt", async () => {
    const { read, steps } = openLanes({ plain: text("typed"), failingReads: 1 });
    expect((await read()).markdown.toString()).toBe("typed");
    expect(steps).toEqual(["read"]);
  });

  test("that waits for the disk when the process stops is left to another worker", async () => {
    const { read, steps, stopping } = openLanes({ plain: text("typed"), failingReads: Infinity });
    const reading = read();
    stopping.abort(new Error("stopping"));
    await expect(reading).rejects.toThrow("stopping");
    expect(steps).toEqual([]);
  });

  test("with scanned pages gives its turn to the next file before it is read again, and pays for recognized pages alone", async () => {
    const { read, steps, left } = openLanes({ plain: PARTLY_SCANNED });
    expect((await read()).markdown.toString()).toBe("typed and read");
    expect(steps).toEqual(["read", "turn ends", "recognize 2"]);
    expect(left()).toBe(99);
  });

  test("reports that its scanned pages are being read, by the stream of its document", async () => {
    const { read, reports } = openLanes({ plain: PARTLY_SCANNED });
    await read();
    expect(reports).toEqual(["document-1 0/2"]);
    const typed = openLanes({ plain: text("typed") });
    await typed.read();
    expect(typed.reports).toEqual([]);
  });

  test("looks for the organization's languages, keeps them with the text, and reads again with the same", async () => {
    const first = openLanes({ plain: PARTLY_SCANNED, own: ["fra", "deu"] });
    expect(await first.read()).toMatchObject({ ocr_languages: ["fra", "deu"] });
    expect(first.sought).toEqual([["fra", "deu"]]);
    const again = openLanes({ plain: PARTLY_SCANNED, own: ["tha"], before: ["fra", "deu"] });
    expect(await again.read()).toMatchObject({ ocr_languages: ["fra", "deu"] });
    expect(again.sought).toEqual([["fra", "deu"]]);
  });

  test("keeps no languages if no page was recognized", async () => {
    const { recognized: _, ...unrecognized } = RECOGNIZED;
    const { read, sought } = openLanes({ plain: PARTLY_SCANNED, recognized: unrecognized });
    expect(await read()).not.toHaveProperty("ocr_languages");
    expect(sought).toEqual([["eng"]]);
  });

  test("that text recognition cannot survive keeps the text, names the pages and pays", async () => {
    const { read, left } = openLanes({ plain: PARTLY_SCANNED, recognized: new UnreadableFile("Too large.") });
    expect(await read()).toMatchObject({
      markdown: Buffer.from("typed"),
      warnings: [{ code: "picture_unreadable", pages: [2, 3] }],
    });
    expect(left()).toBe(98);
  });

  test("fails as the service failed, and pays nothing, when the process of text recognition could not be used", async () => {
    const { read, left } = openLanes({ plain: PARTLY_SCANNED, recognized: new Error("The reader was closed") });
    await expect(read()).rejects.toThrow("The reader was closed");
    expect(left()).toBe(100);
  });

  test("is recognized as far as the pages of the day reach", async () => {
    const { read, steps } = openLanes({ plain: PARTLY_SCANNED, budget: 1 });
    await read();
    expect(steps.at(-1)).toBe("recognize 1");
  });

  test("without text fails with a reason once the pages of the day are used up", async () => {
    const { read, steps } = openLanes({ plain: new ScannedFile("Scanned.", 4), budget: 0 });
    await expect(read()).rejects.toThrow(/used up/);
    expect(steps).toEqual(["read", "turn ends"]);
  });

  test("of ten thousand pages asks for 500", async () => {
    const { read, steps } = openLanes({ plain: new ScannedFile("Scanned.", 10_000), budget: 10_000 });
    await read();
    expect(steps.at(-1)).toBe("recognize 500");
  });

  test("fails as before where text recognition is off", async () => {
    const { read, steps } = openLanes({ plain: new ScannedFile("Scanned.", 4), isOff: true });
    await expect(read()).rejects.toThrow("Scanned.");
    expect(steps).toEqual(["read"]);
  });

  test("that waits for text recognition when the process stops is left to another worker", async () => {
    const { read, recognition, stopping } = openLanes({ plain: PARTLY_SCANNED });
    const { promise, resolve } = Promise.withResolvers<void>();
    const busy = recognition.openFiles.run("another", () => promise);
    const reading = read();
    stopping.abort(new Error("stopping"));
    await expect(reading).rejects.toThrow("stopping");
    resolve();
    await busy;
  });
});
