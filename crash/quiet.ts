import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";

/** Longer than a lease, the sweep and a takeover's second look take together. */
const PATIENCE_MS = 60_000;

const OPEN = `
  select (select count(*) from log.streams
           where status <> 'waiting' or due_at < now() + interval '1 minute')::integer as running,
         (select position from log.head) as head, (select min(position) from log.checkpoints) as slowest`;

/** Waits until no work is open and every follower stands at the head of the log, for 60 s at most; what is left then is for the checker to name. Answers where the log ends. */
export async function becomeQuiet(databaseUrl: string): Promise<number> {
  const client = new pg.Client({ connectionString: databaseUrl });
  client.on("error", () => {});
  await client.connect();
  try {
    for (const until = Date.now() + PATIENCE_MS; ; await sleep(250)) {
      const { rows } = await client.query<{ running: number; head: string; slowest: string }>(OPEN);
      const { running, head, slowest } = rows[0]!;
      if ((running === 0 && head === slowest) || Date.now() > until) return Number(head);
    }
  } finally {
    await client.end();
  }
}
