/** The kinds of data that an erasure may delete, by their API names. */
export const ERASED_KINDS = ["threads", "files", "runs", "documents", "extractions"] as const;
