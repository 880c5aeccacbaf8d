import { setTimeout as sleep } from "node:timers/promises";
import type { Db } from "#projections/projection.ts";

/** Longer than a lease, a sweep and the second sweep of a takeover together. */
const PATIENCE_MS = 60_000;

const OPEN = `
  select (select count(*) from log.streams
           where status <> 'waiting' or due_at < now() + interval '1 minute')::integer as running,
         (select position from log.head) as head, (select min(position) from log.checkpoints) as slowest`;

/** Waits, at most 60 s, until no work is open and every follower has reached the head of the log; the checker reports what is left. Resolves with the end of the log. */
export async function waitUntilQuiet(db: Pick<Db, "query">): Promise<number> {
  for (const until = Date.now() + PATIENCE_MS; ; await sleep(250)) {
    const [state] = await db.query<{ running: number; head: string; slowest: string }>(OPEN, []);
    const { running, head, slowest } = state!;
    if ((running === 0 && head === slowest) || Date.now() > until) return Number(head);
  }
}
