/** The stores of a deployment, each with a folder on a disk. */
export const STORES = ["blobs", "postgres", "nats", "meilisearch"] as const;
export type Store = (typeof STORES)[number];

/** What new work is refused when a disk gets full, and what it writes to. `level`: which share of FREE_DISK_PERCENT it needs free. */
export interface SpaceRule {
  level: 0 | 1 | 2;
  stores: readonly Store[];
  /** For docs/reference/limits.md. */
  what: string;
}

/**
 * What needs space, least needed first. Everything else goes on until a disk is full: reads, decisions, cancellations, deletions,
 * erasures, sign-ins, settings, and the turns, runs and readings under way.
 */
export const SPACE_RULES = {
  documents: {
    level: 0,
    stores: STORES,
    what: "new documents: uploads, pushes, batches, reprocessing, reads of sources, vectors of passages",
  },
  files: { level: 0, stores: ["blobs", "postgres", "nats"], what: "uploads to `/files`, extractions" },
  attachments: {
    level: 1,
    stores: ["blobs", "postgres", "nats"],
    what: "files and long texts in turns",
  },
  runs: {
    level: 1,
    stores: ["postgres", "nats"],
    what: "new runs by requests, webhooks and schedules; retries and forks",
  },
  turns: { level: 2, stores: ["postgres", "nats"], what: "all turns" },
} as const satisfies Record<string, SpaceRule>;
export type SpaceUse = keyof typeof SPACE_RULES;
export const SPACE_USES = Object.keys(SPACE_RULES) as SpaceUse[];

/** What is refused because a disk is almost full, as this process saw the disks last. Reads nothing. */
export interface FreeSpace {
  isRefused(use: SpaceUse): boolean;
}
