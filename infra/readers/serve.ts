import { Worker } from "node:worker_threads";
import { UnreadableFile, type FileToRead, type Passage, type Reading } from "#services/reading/reader.ts";
import type { Answer, Outcome, Request } from "./messages.ts";

interface Work {
  read(file: FileToRead): Promise<Reading>;
  cut(markdown: string, pages: number[] | null): Passage[];
}

const tell = (answer: Answer): void => {
  process.send?.(answer);
};

const outcome = async (work: Work, request: Request): Promise<Outcome> => {
  try {
    const value = request.kind === "read" ? await work.read(request.file) : work.cut(request.markdown, request.pages);
    return { kind: "done", value, resident: process.memoryUsage.rss() };
  } catch (error) {
    const unreadable = error instanceof UnreadableFile;
    const because = unreadable ? error.message : String((error instanceof Error && error.stack) || error);
    return { kind: "failed", unreadable, because, resident: process.memoryUsage.rss() };
  }
};

/** Reads what the parent process sends, one at a time, until the parent lets go or dies. */
export const serveReading = (work: Work): void => {
  // A terminal's Ctrl-C reaches the whole group, but the parent still waits for what is being read.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});
  process.on("disconnect", () => process.exit());
  new Worker(new URL("./orphan.ts", import.meta.url), { workerData: process.ppid });
  process.on("message", (request: Request) => {
    tell({ kind: "started" });
    void outcome(work, request).then(tell);
  });
};
