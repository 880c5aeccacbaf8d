import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type pg from "pg";

/** PostgreSQL cuts the name of a connection here. */
const LONGEST_NAME = 63;
const EVERY_MS = 3_000;

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
    async leave(): Promise<void> {
      clearInterval(timer);
      await pool.query("delete from ops.workers where worker = $1", [worker]);
    },
  };
}
