import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { serveReading } from "#infra/readers/serve.ts";
import { UnreadableFile, type Reading } from "#services/reading/reader.ts";

/* A reading process whose reader does what the file's name says; it stands for a library that a hostile file defeats. */

const reading = (markdown: string): Reading => ({ markdown, page_count: null, pages: null, passages: [] });

const tryRead = (path: string): string => {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? "unknown";
  }
};

const held: unknown[] = [];

const deeds: Record<string, (text: string) => Reading | Promise<Reading>> = {
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
  environment: () => reading(JSON.stringify(process.env)),
};

serveReading({
  read: async ({ name, bytes }) => deeds[name]!(bytes.toString()),
  cut: () => [],
});
