/** Milliseconds. */
export const HOUR_MS = 60 * 60 * 1_000;
/** Always 24 hours, because days are in UTC. */
export const DAY_MS = 24 * HOUR_MS;

/** Bytes. */
export const MIB = 1024 * 1024;
