import type { ServerResponse } from "node:http";

/** A signal that aborts when the connection closes before the whole answer was written. */
export function disconnectSignal(raw: ServerResponse): AbortSignal {
  const disconnected = new AbortController();
  if (raw.destroyed) disconnected.abort();
  raw.once("close", () => {
    if (!raw.writableFinished) disconnected.abort();
  });
  return disconnected.signal;
}

/** Runs `act` when the client disconnects, or at once if it already has. */
export function onDisconnect(disconnected: AbortSignal, act: () => void): void {
  if (disconnected.aborted) act();
  else disconnected.addEventListener("abort", act, { once: true });
}
