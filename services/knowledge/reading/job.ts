import type { Blobs, EventLog } from "#events/ports.ts";
import type { Reader } from "../../reading/reader.ts";
import type { SealedDeps } from "../../sealed.ts";
import type { Send, Target } from "../../send.ts";
import type { Trace } from "#events/trace.ts";
import type { Slots } from "./slots.ts";

/** One reading: no more than ids, because thousands of them may wait. */
export interface Job extends Target {
  /** Of a document; 1 for an extraction. */
  generation: number;
  attempt: number;
  /** What it was asked in; what is run after another is not of that one's trace. */
  trace?: Trace | undefined;
}

export interface JobDeps extends SealedDeps {
  log: Pick<EventLog, "heads" | "read">;
  blobs: Blobs;
  reader: Pick<Reader, "read" | "cut">;
  /** As many files as there are readers are open at once, however many readings run. */
  slots: Slots;
  send: Send;
  worker: string;
  /** A point at which the crash harness may end the process. */
  failpoint(name: string): void;
}

/** Workers that may lose a reading before it is given up. */
export const ATTEMPTS = 3;
export const LOST = "The file could not be read: three tries ended before they came to a result.";
