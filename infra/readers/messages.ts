import type { Paging, ReadText } from "#services/reading/reader.ts";

/* What goes between this process and a reading one. Bytes go over the pipe beside the messages. */

export type Asked = { kind: "read"; mime_type: string; name: string } | ({ kind: "cut" } & Paging);

/** So many bytes are on their way: of the file, or of Markdown that is to be cut. */
export type Request = Asked & { bytes: number };

/** `started` says that the request has arrived whole: what happens from then on is its own fault. */
export type Answer = { kind: "started" } | Outcome;

export type Outcome =
  /** So many bytes of Markdown are on their way, and so many of passages. */
  | {
      kind: "done";
      said: Omit<ReadText, "markdown" | "passages">;
      markdown: number;
      passages: number;
      resident: number;
    }
  /** `because` is for a person where the reader said it, and a stack for us where something broke. */
  | { kind: "failed"; unreadable: boolean; because: string; resident: number };
