/** A status for display. The API's `pending` is always shown as waiting. */
export const statusWord = (status: string): string => (status === "pending" ? "waiting" : status.replaceAll("_", " "));
