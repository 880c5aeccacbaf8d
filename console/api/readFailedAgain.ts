import type { QueryClient } from "@tanstack/react-query";
import { Failure, isFinal } from "./call.ts";

/** A service that comes back has all who waited for it to serve at once: long enough for that. */
const PAUSE_MS = 10_000;

/** Whether something that failed may be read after a while, without anybody doing anything. */
export const isReadAgain = (error: unknown): boolean => error instanceof Failure && !isFinal(error);

let planned: number | undefined;

/** After a while, reads again what the page shows and could not be read: a service that was away for long may be back. */
export function readFailedAgain(queries: QueryClient): void {
  planned ??= window.setTimeout(() => {
    planned = undefined;
    void queries.refetchQueries({ type: "active", predicate: ({ state }) => isReadAgain(state.error) });
  }, PAUSE_MS);
}
