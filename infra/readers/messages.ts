import type { FileToRead, Passage, Reading } from "#services/reading/reader.ts";

/* What goes between this process and a reading one. */

export type Request = { kind: "read"; file: FileToRead } | { kind: "cut"; markdown: string; pages: number[] | null };

/** `started` says that the request has arrived whole: what happens from then on is its own fault. */
export type Answer = { kind: "started" } | Outcome;

export type Outcome =
  | { kind: "done"; value: Reading | Passage[]; resident: number }
  /** `because` is for a person where the reader said it, and a stack for us where something broke. */
  | { kind: "failed"; unreadable: boolean; because: string; resident: number };
