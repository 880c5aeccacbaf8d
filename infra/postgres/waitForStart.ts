import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { Unavailable } from "#events/ports.ts";
import { withToolClient } from "./toolClient.ts";

/** `starting`: the server says so. `away`: nothing answers at its address yet. */
export type Obstacle = "starting" | "away";

/** SQLSTATE cannot_connect_now: the server is starting, recovering after a crash, or stopping. */
const CANNOT_CONNECT_NOW = "57P03";
/** Network errors before a server listens, or before the name of its container is known. */
const AWAY = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ETIMEDOUT",
  "EAI_AGAIN",
  "ENOTFOUND",
]);
const RETRY_MS = 250;
/** A wrong address looks like a server that is away, so that wait is as short as the one for NATS. */
const MAX_WAIT_MS: Record<Obstacle, number> = { starting: 120_000, away: 30_000 };

/** Whether a server refused a connection because it is starting. */
export const isStarting = (error: unknown): error is Error =>
  error instanceof pg.DatabaseError && error.code === CANNOT_CONNECT_NOW;

function findObstacle(error: unknown): Obstacle | undefined {
  if (isStarting(error)) return "starting";
  if (error instanceof pg.DatabaseError) return undefined;
  const { code = "" } = (error ?? {}) as NodeJS.ErrnoException;
  return error instanceof Unavailable || AWAY.has(code) ? "away" : undefined;
}

function notThere(databaseUrl: string, cause: unknown): Error {
  const reason = (cause as NodeJS.ErrnoException).code ?? (cause as Error).message;
  const { host } = new URL(databaseUrl);
  return new Error(`PostgreSQL does not answer at ${host} (${reason}): start it, or correct DATABASE_URL`, { cause });
}

/**
 * Waits while the server is starting or does not listen yet. Other errors are left to the next connection. Without this wait the
 * process would exit, and supervisors delay each restart of such a process more. Calls `onWait` when it has to wait. Throws the
 * server's error after two minutes, or says after 30 s that nothing answers.
 */
export async function waitForStart(databaseUrl: string, onWait: (obstacle: Obstacle) => void): Promise<void> {
  const began = performance.now();
  let patience_ms = 0;
  for (;;) {
    const error: unknown = await withToolClient(databaseUrl, "svc start", async () => undefined).catch(
      (cause: unknown) => cause,
    );
    const obstacle = findObstacle(error);
    if (!obstacle) return;
    if (MAX_WAIT_MS[obstacle] > patience_ms) {
      patience_ms = MAX_WAIT_MS[obstacle];
      onWait(obstacle);
    }
    if (performance.now() - began > patience_ms) throw obstacle === "away" ? notThere(databaseUrl, error) : error;
    await sleep(RETRY_MS);
  }
}
