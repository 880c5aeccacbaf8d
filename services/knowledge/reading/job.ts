import type { EventLog } from "#events/ports.ts";
import type { Blobs } from "#events/vault.ts";
import type { Reader } from "../../reading/reader.ts";
import type { VaultDeps } from "../../thingBlobs.ts";
import type { Send, Target } from "../../send.ts";
import type { Trace } from "#events/trace.ts";
import type { FairSemaphore } from "../../sharing/fairSemaphore.ts";

/** One reading. It holds only ids, because thousands of them may wait. */
export interface Job extends Target {
  /** The generation of a document; 1 for an extraction. */
  generation: number;
  attempt: number;
  /** The trace of the request. Without it a job would run in the trace of the job before it. */
  trace?: Trace | undefined;
}

export interface JobDeps extends VaultDeps {
  log: Pick<EventLog, "heads" | "read">;
  blobs: Blobs;
  reader: Pick<Reader, "read" | "cut">;
  /** Limits open files to the number of readers, however many readings run; organizations take turns. */
  openFiles: Pick<FairSemaphore, "run">;
  send: Send;
  worker: string;
  /** A point at which the crash harness may end the process. */
  failpoint(name: string): void;
}

/** Attempts before a reading fails, whose workers were all lost. */
export const MAX_ATTEMPTS = 3;
export const WORKERS_LOST = "The file could not be read: three attempts ended without a result.";
