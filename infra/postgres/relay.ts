import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import type { EventLog, PublicEvent, Reactions } from "#events/ports.ts";
import { failpoint } from "../failpoint.ts";

const EVERY_MS = 250;
const BATCH = 1_000;

export interface RelayOptions {
  pool: pg.Pool;
  log: Pick<EventLog, "scan">;
  reactions: Pick<Reactions, "publish">;
  /** Event types that somebody may react to. */
  types: string[];
  wakes(event: PublicEvent): boolean;
  onError(error: unknown): void;
}

/**
 * Wakes reactors: follows the log and publishes each event that calls for work before it moves its checkpoint, so
 * none is left out and a few come twice. It polls: turns start where they are committed and do not wait for it.
 */
export function relay(options: RelayOptions, signal: AbortSignal): Promise<void> {
  const { pool, log, reactions } = options;

  const step = async (): Promise<boolean> => {
    const { rows } = await pool.query<{ position: number }>({
      name: "relay",
      text: "select position from log.checkpoints where name = 'reactions'",
    });
    const after = rows[0]?.position ?? 0;
    const { events, seen } = await log.scan(after, options.types, BATCH);
    for (const event of events)
      if (options.wakes(event)) {
        await reactions.publish(event);
        failpoint("after-reaction-published");
      }
    if (seen > after)
      await pool.query({
        name: "relayed",
        text: `insert into log.checkpoints (name, version, position) values ('reactions', 1, $1)
               on conflict (name) do update set position = greatest(log.checkpoints.position, excluded.position)`,
        values: [seen],
      });
    return events.length === BATCH;
  };

  const loop = async (): Promise<void> => {
    while (!signal.aborted) {
      const more = await step().catch((error) => options.onError(error));
      if (!more) await sleep(EVERY_MS, undefined, { signal }).catch(() => {});
    }
  };
  return loop();
}
