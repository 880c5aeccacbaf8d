import { Socket } from "node:net";
import { Worker } from "node:worker_threads";
import { ScannedFile, UnreadableFile, type Reader, type FileText } from "#services/reading/reader.ts";
import { PIPE } from "../processes/launch.ts";
import type { ReadingAnswer, ReadingOutcome, ReadingRequest } from "./messages.ts";
import { readExactly } from "./readExactly.ts";

type FileReader = Pick<Reader, "read" | "cut" | "list">;

const send = (answer: ReadingAnswer): void => {
  process.send?.(answer);
};

const toBuffer = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);

const NO_BYTES = Buffer.alloc(0);

const NO_TEXT = { passages: NO_BYTES, page_count: null, chunk_count: 0, characters: 0 };

const run = async (reader: FileReader, request: ReadingRequest, bytes: Buffer): Promise<FileText> => {
  switch (request.kind) {
    case "read":
      return reader.read({ ...request, bytes }, undefined, (progress) => send({ kind: "progress", progress }));
    case "cut":
      // the parent has the Markdown already
      return { markdown: NO_BYTES, ...(await reader.cut(bytes, request)) };
    case "list":
      return { markdown: Buffer.from(JSON.stringify(await reader.list(bytes))), ...NO_TEXT };
  }
};

/** Runs a request; `results` go over the pipe after the outcome. */
const runRequest = async (
  reader: FileReader,
  request: ReadingRequest,
  bytes: Buffer,
): Promise<{ outcome: ReadingOutcome; results: Buffer[] }> => {
  try {
    const { markdown, passages, ...counts } = await run(reader, request, bytes);
    const sizes = { markdown: markdown.length, passages: passages.length };
    const resident = process.memoryUsage.rss();
    return { outcome: { kind: "done", counts, ...sizes, resident }, results: [markdown, passages] };
  } catch (error) {
    const unreadable = error instanceof UnreadableFile;
    const reason = unreadable ? error.message : String((error instanceof Error && error.stack) || error);
    const scanned = error instanceof ScannedFile ? { scanned: error.pages } : {};
    const resident = process.memoryUsage.rss();
    return { outcome: { kind: "failed", unreadable, ...scanned, reason, resident }, results: [] };
  }
};

/** Serves the parent's requests one at a time, until it disconnects or dies. */
export const serveReading = (reader: FileReader): void => {
  // a terminal's Ctrl-C reaches the whole group, but the parent still waits for the current file
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});
  process.on("disconnect", () => process.exit());
  new Worker(new URL("./exitWithParent.ts", import.meta.url), { workerData: process.ppid });
  const pipe = new Socket({ fd: PIPE, readable: true, writable: true }).on("error", () => process.exit());
  const serve = async ({ content, ...request }: ReadingRequest): Promise<void> => {
    const bytes = content ? toBuffer(content) : await readExactly(pipe, request.bytes);
    if (!bytes) return process.exit();
    send({ kind: "started" });
    const { outcome, results } = await runRequest(reader, request, bytes);
    send(outcome);
    // both in one write
    pipe.cork();
    for (const result of results) pipe.write(result);
    pipe.uncork();
  };
  process.on("message", (request: ReadingRequest) => void serve(request));
};
