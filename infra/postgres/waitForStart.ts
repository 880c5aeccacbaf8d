import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { withToolClient } from "./toolClient.ts";

/** SQLSTATE of a server that starts, recovers after a crash, or stops. */
const NOT_YET = "57P03";
const RETRY_MS = 250;
const PATIENCE_MS = 120_000;

const isStarting = (error: unknown): boolean => error instanceof pg.DatabaseError && error.code === NOT_YET;

/**
 * Resolves when the server does not say that it is starting; other errors belong to the next connection. A process that ended
 * instead would lose its own start as well, and be started again later each time. Calls `onWait` once if it has to wait.
 * Throws the server's error after two minutes.
 */
export async function waitForStart(databaseUrl: string, onWait: () => void): Promise<void> {
  const until = performance.now() + PATIENCE_MS;
  for (let tries = 0; ; tries++) {
    const error: unknown = await withToolClient(databaseUrl, "svc start", async () => undefined).catch(
      (cause: unknown) => cause,
    );
    if (!isStarting(error)) return;
    if (performance.now() > until) throw error;
    if (tries === 0) onWait();
    await sleep(RETRY_MS);
  }
}
