import type { ReadingProgress } from "#events/readingProgress.ts";
import type { FileToRead, Pagination, FileText } from "#services/reading/reader.ts";

/* The messages between this process and a reading process. The contents of most files go over a pipe next to them. */

export type ReadingTask =
  | ({ kind: "read" } & Omit<FileToRead, "bytes">)
  | ({ kind: "cut" } & Pagination)
  | { kind: "list" };

/** `bytes`: the length of the file or of the Markdown to cut. It follows on the pipe, unless it is short enough to be the `content`. */
export type ReadingRequest = ReadingTask & { bytes: number; content?: Uint8Array };

/** `started`: the request has arrived completely, so any later failure is due to the file. */
export type ReadingAnswer = { kind: "started" } | { kind: "progress"; progress: ReadingProgress } | ReadingOutcome;

export type ReadingOutcome =
  /** `markdown` and `passages`: how many bytes of each follow on the pipe. `resident`: the process's memory, in bytes. */
  | {
      kind: "done";
      counts: Omit<FileText, "markdown" | "passages">;
      markdown: number;
      passages: number;
      resident: number;
    }
  /** `reason`: a message for a person if the file is unreadable, otherwise the stack of an unexpected error. `scanned`: pages of a ScannedFile. */
  | { kind: "failed"; unreadable: boolean; scanned?: number; reason: string; resident: number };
