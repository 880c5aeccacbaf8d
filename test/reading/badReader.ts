import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { serveReading } from "#infra/readers/serve.ts";
import { toFileText } from "#services/reading/passageLines.ts";
import { UnreadableFile, type FileText } from "#services/reading/reader.ts";

/* A reading process that fails in the way that the file's type names, like a library does on a hostile file. */

const readText = (markdown: string): FileText =>
  toFileText({ markdown, page_count: null, pages: null, passages: [], warnings: [] });

/** A text that announces another length than it has. */
const announce = (length: number): FileText => {
  const markdown = Object.defineProperty(Buffer.from("four"), "length", { value: length });
  return { ...readText(""), markdown };
};

const tryRead = (path: string): string => {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? "unknown";
  }
};

const retained: unknown[] = [];

const actions: Record<string, (text: string) => FileText | Promise<FileText>> = {
  echo: (text) => readText(`${process.pid} ${text}`),
  loop() {
    for (;;);
  },
  wait: async () => {
    await sleep(3_600_000);
    return readText("");
  },
  slow: async (text) => {
    await sleep(300);
    return readText(`${process.pid} ${text}`);
  },
  /* Its memory shows that it has begun. */
  async grow() {
    retained.push(Buffer.alloc(450_000_000, 1));
    await sleep(3_600_000);
    return readText("");
  },
  /* Buffers, which do not count towards V8's heap limit. */
  hoard: async () => {
    for (;;) {
      retained.push(Buffer.alloc(10_000_000, 1));
      await sleep(10);
    }
  },
  keep(text) {
    retained.push(Buffer.alloc(450_000_000, 1));
    return readText(`${process.pid} ${text}`);
  },
  /* Arrays of numbers, which fill V8's heap. */
  fill() {
    for (;;) retained.push(Array<number>(1_000_000).fill(1.5));
  },
  exit: () => process.exit(0),
  throw() {
    throw new TypeError("undefined is not a function");
  },
  refuse() {
    throw new UnreadableFile("The file is upside down.");
  },
  readFile: (path) => readText(tryRead(path)),
  /* More than the parent may allocate. */
  claim: () => announce(600_000_000),
  /* Announces more than it sends, then exits. */
  half() {
    setTimeout(() => process.exit(), 200);
    return announce(10_000_000);
  },
  /* Sends more than it announces. */
  flood: () => announce(1),
  environment: () => readText(JSON.stringify(process.env)),
};

serveReading({
  async read({ mime_type, bytes }, _owner, onProgress) {
    if (mime_type === "pages") for (let n = 1; n <= 3; n++) onProgress?.({ pages_read: n, pages_total: 3 });
    return (actions[mime_type] ?? actions["echo"]!)(bytes.toString());
  },
  cut: () => Promise.reject(new Error("not in this test")),
  list: () => Promise.reject(new Error("not in this test")),
});
