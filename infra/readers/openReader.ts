import { fileURLToPath } from "node:url";
import { UnreadableFile, type Reader, type ReadText } from "#services/reading/reader.ts";
import { NotStarted, startChild, type Child, type Done, type Limits } from "./child.ts";
import type { Asked, Outcome, Request } from "./messages.ts";

interface Options {
  /** Files read at once; each can hold 1.5 GB. */
  processes: number;
  /** The program of a reading process. */
  program?: string;
  limits?: Limits;
}

const PROGRAM = fileURLToPath(new URL("../../roles/reader.ts", import.meta.url));
const LIMITS: Limits = { deadline_ms: 120_000, resident: 1_500_000_000, idle_ms: 60_000 };
/** Libraries leak: a process is replaced after so many files, or when it holds so much after one. */
const FILES = 50;
const KEEPS = 400_000_000;
const ATTEMPTS = 3;

const valueOf = ({ outcome, bytes }: Done): ReadText => {
  if (outcome.kind === "done") {
    const { said, markdown } = outcome;
    return { ...said, markdown: bytes.subarray(0, markdown), passages: bytes.subarray(markdown) };
  }
  if (outcome.unreadable) throw new UnreadableFile(outcome.because);
  throw new UnreadableFile("The file is damaged, or made in a way that cannot be read.", { cause: outcome.because });
};

const isSpent = (child: Child, outcome: Outcome): boolean =>
  child.files() >= FILES || outcome.resident > KEEPS || (outcome.kind === "failed" && !outcome.unreadable);

/**
 * Reads files in processes that it starts when needed, keeps warm for a minute and replaces before they grow; a process
 * reads one file at a time, so that none fails for another's sake. `close` fails what is being read with a plain Error:
 * nothing is known of those files.
 */
export const openReader = ({ processes, program = PROGRAM, limits = LIMITS }: Options): Reader => {
  const children = new Set<Child>();
  const idle: { child: Child; timer: NodeJS.Timeout }[] = [];
  const waiting: (() => void)[] = [];
  let busy = 0;
  let closed = false;

  const start = (): Child => {
    const child = startChild(program);
    children.add(child);
    void child.gone.then(() => children.delete(child));
    return child;
  };
  const rest = (child: Child): void => {
    if (closed) return child.end();
    idle.push({ child, timer: setTimeout(child.end, limits.idle_ms).unref() });
  };
  const take = (): Child => {
    for (let rested = idle.pop(); rested; rested = idle.pop()) {
      clearTimeout(rested.timer);
      if (rested.child.isAlive()) return rested.child;
    }
    return start();
  };
  const once = async (request: Request, bytes: Buffer): Promise<Done> => {
    const child = take();
    const done = await child.ask(request, bytes, limits).finally(() => {
      if (closed) throw new Error("The reader was closed");
    });
    if (!isSpent(child, done.outcome)) rest(child);
    else {
      child.end();
      // So that the next file need not wait for it.
      rest(start());
    }
    return done;
  };
  const attempt = async (request: Request, bytes: Buffer, left: number): Promise<Done> =>
    once(request, bytes).catch((error: unknown) => {
      if (!(error instanceof NotStarted) || left === 1) throw error;
      return attempt(request, bytes, left - 1);
    });
  const enter = async (): Promise<void> => {
    if (busy < processes) busy += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    if (closed) throw new Error("The reader was closed");
  };
  const leave = (): void => {
    const next = waiting.shift();
    if (next) next();
    else busy -= 1;
  };
  const ask = async (asked: Asked, bytes: Buffer): Promise<ReadText> => {
    await enter();
    return attempt({ ...asked, bytes: bytes.length }, bytes, ATTEMPTS)
      .finally(leave)
      .then(valueOf);
  };

  return {
    read: ({ bytes, mime_type, name }) => ask({ kind: "read", mime_type, name }, bytes),
    cut: (markdown, { page_count, pages }) => ask({ kind: "cut", page_count, pages }, markdown),
    async close() {
      closed = true;
      for (const wake of waiting.splice(0)) wake();
      for (const child of children) child.end();
      await Promise.all([...children].map((child) => child.gone));
    },
  };
};
