/** Time that work gets on a busy machine. A shorter interval costs more processor time than it saves: most polls are requests. */
export const SOON = { timeout: 60_000, interval: 50 };
