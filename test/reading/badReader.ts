import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { serveReading } from "#infra/readers/serve.ts";
import { keepable } from "#services/reading/passageLines.ts";
import { UnreadableFile, type ReadText } from "#services/reading/reader.ts";

/* A reading process whose reader does what the file's name says; it stands for a library that a hostile file defeats. */

const reading = (markdown: string): ReadText => keepable({ markdown, page_count: null, pages: null, passages: [] });

/** A text that says it has another length. */
const saying = (length: number): ReadText => {
  const markdown = Object.defineProperty(Buffer.from("four"), "length", { value: length });
  return { ...reading(""), markdown };
};

const tryRead = (path: string): string => {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? "unknown";
  }
};

const held: unknown[] = [];

const deeds: Record<string, (text: string) => ReadText | Promise<ReadText>> = {
  say: (text) => reading(`${process.pid} ${text}`),
  loop() {
    for (;;);
  },
  wait: async () => {
    await sleep(3_600_000);
    return reading("");
  },
  slow: async (text) => {
    await sleep(300);
    return reading(`${process.pid} ${text}`);
  },
  /* Typed arrays, which no limit of V8 counts. */
  hoard: async () => {
    for (;;) {
      held.push(Buffer.alloc(10_000_000, 1));
      await sleep(10);
    }
  },
  keep(text) {
    held.push(Buffer.alloc(450_000_000, 1));
    return reading(`${process.pid} ${text}`);
  },
  /* Numbers in arrays, which fill V8's heap. */
  fill() {
    for (;;) held.push(Array<number>(1_000_000).fill(1.5));
  },
  exit: () => process.exit(0),
  throw() {
    throw new TypeError("undefined is not a function");
  },
  refuse() {
    throw new UnreadableFile("The file is upside down.");
  },
  look: (path) => reading(tryRead(path)),
  /* What no file has: its parent is not to hold it. */
  claim: () => saying(600_000_000),
  /* Says more than it sends, and ends. */
  half() {
    setTimeout(() => process.exit(), 200);
    return saying(10_000_000);
  },
  /* Sends more than it says. */
  flood: () => saying(1),
  environment: () => reading(JSON.stringify(process.env)),
};

serveReading({
  read: async ({ name, bytes }) => deeds[name]!(bytes.toString()),
  cut: () => Promise.reject(new Error("there is nothing to cut")),
});
