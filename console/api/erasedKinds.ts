/** What an erasure may delete, as the API names it. */
export const ERASED_KINDS = ["threads", "files", "runs", "documents", "extractions"] as const;
