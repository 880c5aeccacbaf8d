import { queryOptions } from "@tanstack/react-query";
import { address, call, itemPath, pageQuery, queryOne } from "./call.ts";
import type { DocumentWarning } from "./knowledge.ts";
import type { Page, ReadingProgress } from "./types.ts";
import { upload, type Upload } from "./upload.ts";

/* Files that are only converted to Markdown. They exist for one day. */

export const EXTRACTION_STATUSES = ["pending", "processing", "ready", "failed"] as const;
export type ExtractionStatus = (typeof EXTRACTION_STATUSES)[number];

export interface Extraction {
  id: string;
  status: ExtractionStatus;
  name: string;
  mime_type: string;
  size_bytes: number;
  /** Set while the text of scanned pages is recognized. */
  progress?: ReadingProgress;
  page_count?: number;
  warnings?: DocumentWarning[];
  /** Set if the extraction is ready; lists omit it. */
  markdown?: string;
  error?: string;
  created_at: string;
  expires_at: string;
}

export const EXTRACTIONS_PER_PAGE = 50;
const POLL_MS = 1_500;
const isRunning = ({ status }: Extraction) => status === "pending" || status === "processing";

/** Newest first; polled while one of them is being processed. */
export const listExtractions = (status: ExtractionStatus | undefined, page: number) =>
  queryOptions({
    queryKey: ["extraction", "list", status, page],
    queryFn: queryOne<Page<Extraction>>("extractions", { status, ...pageQuery(page, EXTRACTIONS_PER_PAGE) }),
    refetchInterval: ({ state }) => (state.data?.data.some(isRunning) ? POLL_MS : false),
  });

const pathOf = (id: string) => itemPath("v1/extractions", id);

export const getExtraction = (id: string) =>
  queryOptions({
    queryKey: ["extraction", "one", id],
    queryFn: queryOne<Extraction>(pathOf(id)),
    refetchInterval: ({ state }) => (state.data && isRunning(state.data) ? POLL_MS : false),
  });

export const extract = (file: Upload) => upload<Extraction>(address("v1/extractions"), file);
export const deleteExtraction = (id: string) => call<void>(pathOf(id), { method: "DELETE" });
