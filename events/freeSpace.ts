/** The stores of a deployment, each with a folder on a disk. */
export const STORES = ["blobs", "postgres", "nats", "meilisearch"] as const;
export type Store = (typeof STORES)[number];

/** One kind of new work that is refused when a disk gets full. */
export interface SpaceRule {
  /** Index of the share of FREE_DISK_PERCENT that must be free: level 0 is refused first. */
  level: 0 | 1 | 2;
  /** The stores that the work writes to. */
  stores: readonly Store[];
  /** For docs/reference/limits.md. */
  what: string;
}

/**
 * New work that needs space, the least urgent first. Everything else continues until a disk is full: reads, decisions, cancellations, deletions,
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

/** Says what is refused because a disk is almost full, by this process's last check of the disks. */
export interface FreeSpace {
  isRefused(use: SpaceUse): boolean;
}
