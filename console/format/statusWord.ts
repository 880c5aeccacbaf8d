/** A status as people read it. What the API calls `pending` waits: one word for it, wherever it is shown. */
export const statusWord = (status: string): string => (status === "pending" ? "waiting" : status.replaceAll("_", " "));
