/** Time that work gets on a busy machine. */
export const SOON = { timeout: 60_000, interval: 20 };
