import { fileURLToPath } from "node:url";
import {
  ScannedFile,
  UnreadableFile,
  type FileText,
  type OnProgress,
  type Reader,
  type Sitemap,
} from "#services/reading/reader.ts";
import { createFairSemaphore } from "#services/sharing/fairSemaphore.ts";
import type { ReadingOutcome, ReadingTask, ReadingRequest } from "./messages.ts";
import { createReadingPool } from "./readingPool.ts";
import { NotStarted, type ReadingProcess, type ReadingResult, type ReadingWork } from "./readingProcess.ts";
import type { ReadingLimits } from "./watchLimits.ts";
import { MAX_FILES_PER_PROCESS } from "./countAsFiles.ts";

interface Options {
  /** Files read at the same time; each can take 1.5 GB. */
  processes: number;
  /** Files of one owner read at the same time; default: `processes`. */
  perOwner?: number;
  /** The program of a reading process. */
  program?: string;
  /** Its scheduling priority, from 0 (normal) to 19 (lowest). */
  nice?: number;
  limits?: ReadingLimits;
}

const PROGRAM = fileURLToPath(new URL("../../roles/reader.ts", import.meta.url));
const LIMITS: ReadingLimits = { deadline_ms: 120_000, resident: 1_500_000_000, idle_ms: 60_000 };
/** Maximum bytes that a process may hold after a file; beyond it, the process is replaced. */
const MAX_IDLE_RESIDENT = 400_000_000;
/** Processor time per page that may be recognized. */
const PAGE_MS = 60_000;
/** Attempts with processes that die before a request reaches them. */
const MAX_ATTEMPTS = 3;

/** The text of a result. Throws UnreadableFile. */
const toFileText = ({ outcome, bytes }: ReadingResult): FileText => {
  if (outcome.kind === "done") {
    const { counts, markdown } = outcome;
    return { ...counts, markdown: bytes.subarray(0, markdown), passages: bytes.subarray(markdown) };
  }
  if (outcome.scanned !== undefined) throw new ScannedFile(outcome.reason, outcome.scanned);
  if (outcome.unreadable) throw new UnreadableFile(outcome.reason);
  throw new UnreadableFile("The file is damaged, or made in a way that cannot be read.", { cause: outcome.reason });
};

const mustReplace = (process: ReadingProcess, outcome: ReadingOutcome): boolean =>
  process.filesRead() >= MAX_FILES_PER_PROCESS ||
  outcome.resident > MAX_IDLE_RESIDENT ||
  (outcome.kind === "failed" && !outcome.unreadable);

/**
 * Reads files in processes that it starts on demand and replaces before they grow. A process reads one file at a time, so a file
 * can only harm itself. `close` fails all running and waiting requests with a plain Error, because nothing is known about those
 * files.
 */
export const openReader = ({
  processes,
  perOwner = processes,
  program = PROGRAM,
  nice,
  limits = LIMITS,
}: Options): Reader => {
  const pool = createReadingPool({ program, ...(nice !== undefined && { nice }), idle_ms: limits.idle_ms });
  const semaphore = createFairSemaphore({ total: processes, perTenant: perOwner });
  const closing = new AbortController();
  const throwIfClosed = (): void => {
    if (pool.isClosed()) throw new Error("The reader was closed");
  };

  const limitsFor = (request: ReadingRequest): ReadingLimits => {
    const pages = (request.kind === "read" && request.recognize) || 0;
    return { ...limits, deadline_ms: limits.deadline_ms + pages * PAGE_MS };
  };

  const tryOnce = async (work: ReadingWork): Promise<ReadingResult> => {
    const process = pool.take();
    const result = await process.request(work, limitsFor(work.request)).finally(throwIfClosed);
    if (mustReplace(process, result.outcome)) pool.replace(process);
    else pool.keep(process);
    return result;
  };
  const tryAgain = (work: ReadingWork, attempts: number): Promise<ReadingResult> =>
    tryOnce(work).catch((error: unknown) => {
      if (!(error instanceof NotStarted) || attempts === 1) throw error;
      return tryAgain(work, attempts - 1);
    });
  const run = async (task: ReadingTask, bytes: Buffer, owner = "", onProgress?: OnProgress): Promise<FileText> => {
    const work = { request: { ...task, bytes: bytes.length }, bytes, onProgress };
    return toFileText(await semaphore.run(owner, () => tryAgain(work, MAX_ATTEMPTS), closing.signal));
  };

  return {
    read: ({ bytes, ...file }, owner, onProgress) => run({ kind: "read", ...file }, bytes, owner, onProgress),
    cut: (markdown, paging, owner) => run({ kind: "cut", ...paging }, markdown, owner),
    async list(sitemap, owner) {
      const { markdown } = await run({ kind: "list" }, sitemap, owner);
      return JSON.parse(markdown.toString()) as Sitemap;
    },
    async close() {
      closing.abort(new Error("The reader was closed"));
      await pool.close();
    },
  };
};
