import { queryOptions } from "@tanstack/react-query";
import type { ERASED_KINDS } from "./erasedKinds.ts";
import { address, ApiError, call, itemPath, nullIfMissing, queryAll, queryOne, send } from "./call.ts";
import type { Page } from "./types.ts";

/* Retention, holds, exports and erasures. For administrators. */

const ERASURES = 50;
export const HOLDS_PER_PAGE = 100;

export const RETAINED_KINDS = ["threads", "turns", "files", "documents", "runs"] as const;
export type RetainedKind = (typeof RETAINED_KINDS)[number];
/** Days such as `30d`; null keeps the data. */
export type RetentionRules = Record<RetainedKind, string | null>;

export interface Retention extends RetentionRules {
  /** `organization` or `project:<id>`. */
  subject: string;
  deleted: Record<RetainedKind, number>;
  next_round_at: string;
  updated_at: string;
}

/** The number of items of each kind that would be deleted, and the items that a hold keeps. */
type Preview<Kind extends string> = Record<Kind, { count: number; oldest: string | null }> & {
  held: { hold_id: string; name: string; kind: Kind; count: number }[];
};

export type RetentionPreview = Preview<RetainedKind>;

const pathOf = (subject: string) => itemPath("retention", subject);

export const listRetention = queryOptions({
  queryKey: ["retention", "list"],
  queryFn: queryAll<Retention>("retention", ({ subject }) => subject),
});
/** Changes nothing. */
export const previewRetention = (subject: string, rules: RetentionRules) =>
  call<RetentionPreview>(`${pathOf(subject)}/preview`, { method: "POST", body: rules });
/** Null if the subject has no rules. */
export const readRetention = (subject: string) => nullIfMissing(call<Retention>(pathOf(subject)));
export const setRetention = (subject: string, rules: RetentionRules) =>
  call<Retention>(pathOf(subject), { method: "PUT", body: rules });
export const removeRetention = (subject: string) => call<void>(pathOf(subject), { method: "DELETE" });

/** Keeps what a subject covers from every deletion, until it is released. */
export interface Hold {
  id: string;
  /** `organization`, or a kind and an id, such as `project:<id>`; for an end user a mark (keyed hash) of the value. */
  subject: string;
  name: string;
  reason: string;
  /** `person:<id>`. */
  placed_by: string;
  created_at: string;
  released_by: string | null;
  released_at: string | null;
}

/** Also released holds, in the order in which they were placed. */
export const listHolds = (offset: number) =>
  queryOptions({
    queryKey: ["hold", "list", offset],
    queryFn: queryOne<Page<Hold>>("holds", { limit: HOLDS_PER_PAGE, offset }),
    placeholderData: (previous) => previous,
  });
export const placeHold = (hold: Pick<Hold, "subject" | "name" | "reason">) =>
  call<Hold>("holds", { method: "POST", body: hold });
export const releaseHold = (id: string) => call<Hold>(itemPath("holds", id), { method: "DELETE" });

export interface Erasure {
  id: string;
  /** `person:<id>`, `key:<id>`, `agent:<id>`, or `user:` with a mark of the value. */
  owner: string;
  status: "running" | "completed";
  threads_deleted: number;
  files_deleted: number;
  runs_deleted: number;
  documents_deleted: number;
  extractions_deleted: number;
  started_by: string;
  created_at: string;
  completed_at: string | null;
}

/** Newest first. */
export const listErasures = (after: string | undefined) =>
  queryOptions({
    queryKey: ["erasure", "list", after],
    queryFn: queryOne<{ data: Erasure[]; next_after: string | null }>("erasures", { limit: ERASURES, after }),
    placeholderData: (previous) => previous,
  });
export const startErasure = (owner: string, kinds: string[]) =>
  call<Erasure>("erasures", { method: "POST", body: { owner, kinds } });
export type ErasurePreview = Preview<(typeof ERASED_KINDS)[number]>;
/** Changes nothing. */
export const previewErasure = (owner: string, kinds: string[]) =>
  call<ErasurePreview>("erasures/preview", { method: "POST", body: { owner, kinds } });
export const certificateAddress = (id: string): string => address(`${itemPath("erasures", id)}/certificate`).href;

export interface ExportProgress {
  bytes: number;
  lines: number;
}

/** Bytes that are passed to the browser's file storage at a time. */
const PART_BYTES = 8_000_000;
const NEWLINE = 10;

const countLines = (bytes: Uint8Array): number => {
  let lines = 0;
  for (const byte of bytes) if (byte === NEWLINE) lines++;
  return lines;
};

/** Whether the last line confirms that the export is complete. */
async function isWhole(file: Blob): Promise<boolean> {
  const end = await file.slice(Math.max(0, file.size - 10_000)).text();
  return /\{"type":"end"[^\n]*\}\n?$/.test(end);
}

/** Downloads all data of a subject as a file of JSON lines. Throws an ApiError, also for a truncated export. */
export async function exportSubject(
  subject: string,
  { signal, onProgress }: { signal: AbortSignal; onProgress(progress: ExportProgress): void },
): Promise<Blob> {
  const response = await send("exports", { method: "POST", body: { subject }, signal });
  let file = new Blob();
  let parts: Uint8Array<ArrayBuffer>[] = [];
  let waiting = 0;
  const progress = { bytes: 0, lines: 0 };
  const store = () => {
    file = new Blob([file, ...parts]);
    [parts, waiting] = [[], 0];
  };
  const reader = response.body!.getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    const chunk = read.value;
    parts.push(chunk);
    waiting += chunk.length;
    if (waiting > PART_BYTES) store();
    progress.bytes += chunk.length;
    progress.lines += countLines(chunk);
    onProgress({ ...progress });
  }
  store();
  if (await isWhole(file)) return file;
  throw new ApiError(0, { error: { message: "The export was cut off: its last line is missing. Start it again." } });
}
