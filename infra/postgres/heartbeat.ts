import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type pg from "pg";

/** PostgreSQL cuts the name of a connection here. */
const LONGEST_NAME = 63;
const EVERY_MS = 3_000;
/** A beat has failed: the database is away, or was, and the others could not beat either. */
const GAP_MS = 6_000;
/** By then everybody who lives has beaten again. */
const SETTLE_MS = 10_000;

/** Names a process of the deployment. Its connections to the database bear the name, so that others see at once when it is gone. */
export const newWorker = (role: string): string =>
  `${role}-${hostname()}`.slice(0, LONGEST_NAME - 18) + `-${process.pid}-${randomUUID().slice(0, 8)}`;

/**
 * Says every 3 s that this process lives. What it holds is up for takeover when it has been silent for 10 s,
 * and at once when it leaves; one row per process stands for the leases of all its turns.
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
    if (now - last > GAP_MS) settled = now + SETTLE_MS;
    last = now;
  };
  await beat();
  const timer = setInterval(() => void beat().catch(onError), EVERY_MS);
  return {
    /** Whether the silence of others means that they are gone: not while the database is away, nor just after. */
    steady: (): boolean => performance.now() - last <= GAP_MS && performance.now() >= settled,
    async leave(): Promise<void> {
      clearInterval(timer);
      await pool.query("delete from ops.workers where worker = $1", [worker]);
    },
  };
}
