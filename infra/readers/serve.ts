import { Socket } from "node:net";
import { Worker } from "node:worker_threads";
import { UnreadableFile, type Reader, type ReadText } from "#services/reading/reader.ts";
import { PIPE } from "../processes/launch.ts";
import { arrival } from "./arrival.ts";
import type { Answer, Outcome, Request } from "./messages.ts";

type Work = Pick<Reader, "read" | "cut">;

const tell = (answer: Answer): void => {
  process.send?.(answer);
};

const NOTHING = Buffer.alloc(0);

const work = async (how: Work, request: Request, bytes: Buffer): Promise<ReadText> =>
  request.kind === "read"
    ? how.read({ ...request, bytes })
    : // what was sent is not sent back
      { markdown: NOTHING, ...(await how.cut(bytes, request)) };

const outcome = async (how: Work, request: Request, sent: Buffer): Promise<{ told: Outcome; bytes: Buffer[] }> => {
  try {
    const { markdown, passages, ...said } = await work(how, request, sent);
    const sizes = { markdown: markdown.length, passages: passages.length };
    const told: Outcome = { kind: "done", said, ...sizes, resident: process.memoryUsage.rss() };
    return { told, bytes: [markdown, passages] };
  } catch (error) {
    const unreadable = error instanceof UnreadableFile;
    const because = unreadable ? error.message : String((error instanceof Error && error.stack) || error);
    return { told: { kind: "failed", unreadable, because, resident: process.memoryUsage.rss() }, bytes: [] };
  }
};

/** Reads what the parent process sends, one at a time, until the parent lets go or dies. */
export const serveReading = (how: Work): void => {
  // A terminal's Ctrl-C reaches the whole group, but the parent still waits for what is being read.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});
  process.on("disconnect", () => process.exit());
  new Worker(new URL("./orphan.ts", import.meta.url), { workerData: process.ppid });
  const pipe = new Socket({ fd: PIPE, readable: true, writable: true }).on("error", () => process.exit());
  const serve = async (request: Request): Promise<void> => {
    const sent = await arrival(pipe, request.bytes);
    if (!sent) return process.exit();
    tell({ kind: "started" });
    const { told, bytes } = await outcome(how, request, sent);
    tell(told);
    for (const each of bytes) pipe.write(each);
  };
  process.on("message", (request: Request) => void serve(request));
};
