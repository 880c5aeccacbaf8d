import type { EventLog } from "#events/ports.ts";
import type { ReadingReports } from "#events/readingProgress.ts";
import type { Blobs } from "#events/vault.ts";
import type { OcrLanguages } from "./ocrLanguages.ts";
import type { PageBudget } from "./pageBudget.ts";
import type { Reader } from "../../reading/reader.ts";
import type { VaultDeps } from "../../thingBlobs.ts";
import type { Send, CommandTarget } from "../../send.ts";
import type { Trace } from "#events/trace.ts";
import type { FairSemaphore } from "../../sharing/fairSemaphore.ts";

/** One reading. It holds only ids, because thousands of them may wait. */
export interface ReadingJob extends CommandTarget {
  /** The generation of a document; 1 for an extraction. */
  generation: number;
  attempt: number;
  /** The collection of a new document, whose head is then read together with that of the document. */
  collection_id?: string;
  /** The wrapped data key, if its command brought it: then nobody has to look it up. */
  wrapped_key?: string | undefined;
  /** The trace of the request. Without it a job would run in the trace of the job before it. */
  trace?: Trace | undefined;
}

export interface JobDeps extends VaultDeps {
  log: Pick<EventLog, "heads" | "read">;
  blobs: Blobs;
  reader: Pick<Reader, "read" | "cut">;
  /** Limits open files to the number of readers, however many readings run; organizations take turns. */
  openFiles: Pick<FairSemaphore, "run">;
  /** Reads pages without text in their pictures; undefined if text recognition is off. */
  recognition?: RecognitionDeps | undefined;
  send: Send;
  worker: string;
  /** A point at which the crash harness may end the process. */
  failpoint(name: string): void;
}

/** The lane of text recognition: it has its own processes, so that text never waits for pictures. */
export interface RecognitionDeps {
  reader: Pick<Reader, "read">;
  openFiles: Pick<FairSemaphore, "run">;
  budget: PageBudget;
  languages: OcrLanguages;
  /** Reports the progress of a reading, by its stream. */
  report: ReadingReports["publish"];
}

/** A reading's place among those that this process runs at once. */
export interface ReadingSlot {
  /** Frees the place for the next reading before this one continues in the lane of text recognition. */
  end(): void;
  /** Aborted when the process stops: readings that still wait are left to other workers. */
  stopping: AbortSignal;
}

/** Lost workers after which a reading fails. */
export const MAX_ATTEMPTS = 3;
export const WORKERS_LOST = "The file could not be read: three attempts ended without a result.";
