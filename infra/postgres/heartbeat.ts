import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type pg from "pg";

const EVERY_MS = 3_000;

/**
 * Says every 3 s that this process lives. What it holds is up for takeover when it has been silent for 10 s,
 * and at once when it leaves; one row per process stands for the leases of all its turns.
 */
export async function startHeartbeat(pool: pg.Pool, role: string, onError: (error: unknown) => void) {
  const worker = `${role}-${hostname()}-${process.pid}-${randomUUID().slice(0, 8)}`;
  const beat = () =>
    pool.query({
      name: "beat",
      text: `insert into ops.workers (worker, role, beat_at) values ($1, $2, now())
             on conflict (worker) do update set beat_at = now()`,
      values: [worker, role],
    });
  await beat();
  const timer = setInterval(() => void beat().catch(onError), EVERY_MS);
  return {
    worker,
    async leave(): Promise<void> {
      clearInterval(timer);
      await pool.query("delete from ops.workers where worker = $1", [worker]);
    },
  };
}
