import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { withToolClient } from "./toolClient.ts";

/** SQLSTATE cannot_connect_now: the server is starting, recovering after a crash, or stopping. */
const CANNOT_CONNECT_NOW = "57P03";
const RETRY_MS = 250;
const MAX_WAIT_MS = 120_000;

const isStarting = (error: unknown): boolean => error instanceof pg.DatabaseError && error.code === CANNOT_CONNECT_NOW;

/**
 * Waits while the server reports that it is starting. Other errors are left to the next connection. Without this wait the process
 * would exit, and supervisors delay each restart of such a process more. Calls `onWait` once if it has to wait. Throws the server's
 * error after two minutes.
 */
export async function waitForStart(databaseUrl: string, onWait: () => void): Promise<void> {
  const until = performance.now() + MAX_WAIT_MS;
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
