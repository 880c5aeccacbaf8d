import { on } from "node:events";
import type { Socket } from "node:net";
import { UnreadableFile, type OnProgress } from "#services/reading/reader.ts";
import { launch, type LaunchOptions, PIPE } from "../processes/launch.ts";
import type { ReadingAnswer, ReadingOutcome, ReadingRequest } from "./messages.ts";
import { readExactly } from "./readExactly.ts";
import { watchLimits, type ReadingLimits } from "./watchLimits.ts";
import { countAsFiles } from "./countAsFiles.ts";

/** The process died before the request had arrived, so nothing is known about the file. */
export class NotStarted extends Error {
  override name = "NotStarted";
}

/** The outcome of a request, and its bytes: Markdown, then passages. */
export interface ReadingResult {
  outcome: ReadingOutcome;
  bytes: Buffer;
}

export interface ReadingWork {
  request: ReadingRequest;
  bytes: Buffer;
  onProgress?: OnProgress | undefined;
}

/** Maximum bytes of a result: 50 MB of Markdown, and passages whose leads may repeat a table's header. */
const MAX_RESULT = 500_000_000;
/** Bytes of a content up to which it is part of the message, which saves a write. */
const MAX_CONTENT = 64 * 1024;
/** Heap of a process, in MiB. */
const HEAP = 1_024;
const READABLE = ["services", "infra/readers", "infra/processes"];

/** The program of a process, and its priority. */
export type ProcessOptions = Pick<LaunchOptions, "program" | "nice">;

/** The outcome, after the progress of the pages. Undefined if the process died. */
async function readOutcome(
  nextAnswer: () => Promise<ReadingAnswer | undefined>,
  onProgress: OnProgress | undefined,
): Promise<ReadingOutcome | undefined> {
  for (;;) {
    const answer = await nextAnswer();
    if (answer?.kind !== "progress") return answer as ReadingOutcome | undefined;
    onProgress?.(answer.progress);
  }
}

/** Starts a process that reads one file at a time. */
export const startReadingProcess = (options: ProcessOptions) => {
  const process = launch({ ...options, readable: READABLE, heap: HEAP, pipe: true });
  // a write to a dead process fails, but the end of its messages already reports that
  const pipe = (process.stdio[PIPE] as Socket).on("error", () => {});
  let isAlive = true;
  const exited = new Promise<void>((resolve) => {
    process.once("error", () => resolve());
    process.once("exit", () => resolve());
  }).then(() => void (isAlive = false));
  let filesRead = 0;

  // an iterator, because two messages may arrive at once
  const answers = on(process, "message", { close: ["exit"] });
  const nextAnswer = async (): Promise<ReadingAnswer | undefined> => {
    const { value, done } = await answers.next();
    return done ? undefined : (value as [ReadingAnswer])[0];
  };

  /** Undefined if the process died, or its result has another size than announced. */
  const send = async ({ request, bytes, onProgress }: ReadingWork): Promise<ReadingResult | undefined> => {
    const isShort = bytes.length <= MAX_CONTENT;
    process.send(isShort ? { ...request, content: bytes } : request, () => {});
    if (!isShort) pipe.write(bytes);
    if (!(await nextAnswer())) throw new NotStarted("A reading process ended before it began to read");
    const outcome = await readOutcome(nextAnswer, onProgress);
    if (!outcome) return undefined;
    const size = outcome.kind === "done" ? outcome.markdown + outcome.passages : 0;
    const result = size <= MAX_RESULT ? await readExactly(pipe, size) : undefined;
    return result && { outcome, bytes: result };
  };

  return {
    exited,
    isAlive: () => isAlive,
    /** The files of the requests so far, as countAsFiles counts them. */
    filesRead: () => filesRead,
    kill: () => void process.kill("SIGKILL"),
    /** Throws UnreadableFile if the request kills the process, NotStarted if it never arrived. */
    async request(work: ReadingWork, limits: ReadingLimits): Promise<ReadingResult> {
      filesRead += countAsFiles(work.request);
      const watch = watchLimits(process, limits);
      try {
        const result = await send(work);
        if (result) return result;
        process.kill("SIGKILL");
        throw new UnreadableFile(watch.reason());
      } finally {
        watch.stop();
      }
    },
  };
};

export type ReadingProcess = ReturnType<typeof startReadingProcess>;
