import type { ChildProcess } from "node:child_process";
import { on } from "node:events";
import { UnreadableFile } from "#services/reading/reader.ts";
import type { Socket } from "node:net";
import { launch, PIPE } from "../processes/launch.ts";
import { residentBytes } from "../processes/resident.ts";
import { arrival } from "./arrival.ts";
import type { Answer, Outcome, Request } from "./messages.ts";
import { processorMs } from "./processor.ts";

export interface Limits {
  /** Processor time for one file, or three times as long by the clock: on a busy machine reading waits for others. */
  deadline_ms: number;
  /** Bytes of memory at which a reading process is killed. */
  resident: number;
  /** How long a process without work is kept. */
  idle_ms: number;
}

/** The process was gone before the request had arrived: nothing is known of the file. */
export class NotStarted extends Error {
  override name = "NotStarted";
}

/** What came of a request, with the bytes that it gave: Markdown, then passages. */
export interface Done {
  outcome: Outcome;
  bytes: Buffer;
}

const TOO_LONG = "Reading the file took too long.";
const TOO_LARGE = "The file is too large or too complex to be read.";
const LOOK_MS = 250;
const PATIENCE = 3;
/** 50 MB of Markdown, and passages that each begin with a table's header. */
const MOST_BYTES = 500_000_000;
const READABLE = ["services", "infra/readers", "infra/processes"];

const launchReader = (program: string) => launch({ program, readable: READABLE, heap: 1_024, pipe: true });

/** Kills the process when it takes more than it may. A process that ends by itself has run out of memory, as a rule. */
const watchOver = (process: ChildProcess, { deadline_ms, resident }: Limits) => {
  const pid = process.pid ?? 0;
  const before = processorMs(pid);
  let verdict = TOO_LARGE;
  const kill = (why: string): void => {
    verdict = why;
    process.kill("SIGKILL");
  };
  const look = setInterval(() => {
    if (residentBytes(pid) > resident) kill(TOO_LARGE);
    else if (processorMs(pid) - before > deadline_ms) kill(TOO_LONG);
  }, LOOK_MS);
  const deadline = setTimeout(kill, PATIENCE * deadline_ms, TOO_LONG);
  return {
    verdict: () => verdict,
    stop(): void {
      clearInterval(look);
      clearTimeout(deadline);
    },
  };
};

/** A process that reads one file at a time. */
export const startChild = (program: string) => {
  const process = launchReader(program);
  // What is written to a process that is gone is lost: its messages end as well, and say so.
  const pipe = (process.stdio[PIPE] as Socket).on("error", () => {});
  let alive = true;
  const gone = new Promise<void>((resolve) => {
    process.once("error", () => resolve());
    process.once("exit", () => resolve());
  }).then(() => void (alive = false));
  let files = 0;

  // An iterator keeps what comes in between: two messages may arrive at once.
  const answers = on(process, "message", { close: ["exit"] });
  const next = async (): Promise<Answer | undefined> => {
    const { value, done } = await answers.next();
    return done ? undefined : (value as [Answer])[0];
  };

  const converse = async (request: Request, bytes: Buffer): Promise<Done | undefined> => {
    process.send(request, () => {});
    if (bytes.length > 0) pipe.write(bytes);
    const started = await next();
    if (!started) throw new NotStarted("A reading process ended before it began to read");
    const outcome = (await next()) as Outcome | undefined;
    if (!outcome) return undefined;
    const size = outcome.kind === "done" ? outcome.markdown + outcome.passages : 0;
    const given = size <= MOST_BYTES ? await arrival(pipe, size) : undefined;
    return given && { outcome, bytes: given };
  };

  return {
    gone,
    isAlive: () => alive,
    /** Files that it was given. */
    files: () => files,
    end: () => void process.kill("SIGKILL"),
    /** Throws UnreadableFile when the process does not survive the request, NotStarted when it never got it. */
    async ask(request: Request, bytes: Buffer, limits: Limits): Promise<Done> {
      files += 1;
      const watch = watchOver(process, limits);
      try {
        const done = await converse(request, bytes);
        if (done) return done;
        process.kill("SIGKILL");
        throw new UnreadableFile(watch.verdict());
      } finally {
        watch.stop();
      }
    },
  };
};

export type Child = ReturnType<typeof startChild>;
