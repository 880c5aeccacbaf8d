import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type pg from "pg";
import { asUnavailable } from "./errors.ts";

/** PostgreSQL truncates application_name here. */
const MAX_NAME_LENGTH = 63;
const HEARTBEAT_MS = 1_000;
/**
 * Heartbeats that wait for an answer at the same time. The second one arrives if the connection of the first was dropped silently.
 * More would wait for its row, each with a connection that other work needs: all of the pool after 12 s of a disk that stalls.
 */
const MAX_PENDING = 2;
/** Maximum gap between own heartbeats. After a longer one the database was unavailable, for other processes too. */
const MAX_GAP_MS = 3_000;
/** Time after a gap in which every living process sends a heartbeat again. */
const SETTLE_MS = 10_000;

/* SQL conditions for a process's row `w` of `ops.workers`. */

export const IS_SILENT = "w.beat_at < now() - interval '10 seconds'";
export const HAS_CONNECTION = "exists (select from pg_stat_activity a where a.application_name = w.worker)";
/** A freshly started database has not seen the connections yet. */
const MAY_HAVE_CONNECTION = `(${HAS_CONNECTION} or pg_postmaster_start_time() > now() - interval '10 seconds')`;
/** Whether a process is alive, so that its requests will be answered. */
export const IS_ALIVE = `(not ${IS_SILENT} and ${MAY_HAVE_CONNECTION})`;
/**
 * Whether a process is gone, so that its work is taken over: silent for 10 s, or for 5 s without a connection of its name. The 5 s
 * exceed MAX_GAP_MS plus a heartbeat, so that after a short outage no process takes the others for dead.
 */
export const IS_GONE = `(${IS_SILENT} or (w.beat_at < now() - interval '5 seconds' and not ${MAY_HAVE_CONNECTION}))`;

/** A new name for this process. It is the application_name of its database connections, so that others notice at once when it is gone. */
export const newWorkerName = (role: string): string =>
  `${role}-${hostname()}`.slice(0, MAX_NAME_LENGTH - 18) + `-${process.pid}-${randomUUID().slice(0, 8)}`;

/**
 * Sends a heartbeat every second. Other processes take over this one's work when it is gone, and at once when it leaves. Its one
 * row is the lease of all its work (docs/adr/0002-leases-are-heartbeats.md). Resolves after the first one. Throws Unavailable if
 * PostgreSQL does not take it; later failures go to `onError`.
 */
export async function startHeartbeat(
  pool: pg.Pool,
  { worker, role }: { worker: string; role: string },
  onError: (error: unknown) => void,
) {
  let last = performance.now();
  let settled = last;
  const beat = async () => {
    await pool.query({
      name: "beat",
      text: `insert into ops.workers (worker, role, beat_at) values ($1, $2, now())
             on conflict (worker) do update set beat_at = now()`,
      values: [worker, role],
    });
    const now = performance.now();
    if (now - last > MAX_GAP_MS) settled = now + SETTLE_MS;
    last = now;
  };
  try {
    await beat();
  } catch (error) {
    throw asUnavailable(error);
  }
  const pending = new Set<Promise<void>>();
  const beatAgain = (): void => {
    if (pending.size === MAX_PENDING) return;
    const beating: Promise<void> = beat()
      .catch(onError)
      .finally(() => pending.delete(beating));
    pending.add(beating);
  };
  const timer = setInterval(beatAgain, HEARTBEAT_MS);
  return {
    /** Whether silence means that a process is gone. False while the database is unavailable, and shortly after. */
    isSteady: (): boolean => performance.now() - last <= MAX_GAP_MS && performance.now() >= settled,
    async leave(): Promise<void> {
      clearInterval(timer);
      // a late one would insert the row again
      await Promise.all(pending);
      await pool.query("delete from ops.workers where worker = $1", [worker]);
    },
  };
}
