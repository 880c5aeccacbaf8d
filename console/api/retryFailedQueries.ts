import type { QueryClient } from "@tanstack/react-query";
import { ApiError, isFinal } from "./call.ts";

/** Long enough that a recovering service does not receive all waiting requests at once. */
const PAUSE_MS = 10_000;

/** Whether a failed read may be retried after a while without an action of the person. */
export const canRetryLater = (error: unknown): boolean => error instanceof ApiError && !isFinal(error);

let planned: number | undefined;

/** Retries failed reads of the page after a while, because the service may be back. */
export function retryFailedQueries(queries: QueryClient): void {
  planned ??= window.setTimeout(() => {
    planned = undefined;
    void queries.refetchQueries({ type: "active", predicate: ({ state }) => canRetryLater(state.error) });
  }, PAUSE_MS);
}
