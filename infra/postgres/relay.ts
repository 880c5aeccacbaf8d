import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import type { EventLog, ScannedEvent } from "#events/ports.ts";

const EVERY_MS = 250;

export interface RelayOptions {
  pool: pg.Pool;
  log: Pick<EventLog, "scan">;
  /** Names its checkpoint. */
  name: string;
  /** Event types that somebody may want. */
  types: string[];
  /** Events at a time. */
  batch: number;
  /** Resolves when none of them can be lost any more. */
  publish(events: ScannedEvent[]): Promise<void>;
  onError(error: unknown): void;
}

/**
 * Follows the log and publishes events before it moves its checkpoint, so none is left out and a few come twice. It polls:
 * nothing that is urgent waits for it.
 */
export function relay(options: RelayOptions, signal: AbortSignal): Promise<void> {
  const { pool, log, name } = options;

  const step = async (): Promise<boolean> => {
    const { rows } = await pool.query<{ position: number }>({
      name: "relay",
      text: "select position from log.checkpoints where name = $1",
      values: [name],
    });
    const after = rows[0]?.position ?? 0;
    const { events, seen } = await log.scan(after, options.types, options.batch);
    await options.publish(events);
    if (seen > after)
      await pool.query({
        name: "relayed",
        text: `insert into log.checkpoints (name, version, position) values ($1, 1, $2)
               on conflict (name) do update set position = greatest(log.checkpoints.position, excluded.position)`,
        values: [name, seen],
      });
    return events.length === options.batch;
  };

  const loop = async (): Promise<void> => {
    while (!signal.aborted) {
      const more = await step().catch((error) => options.onError(error));
      if (!more) await sleep(EVERY_MS, undefined, { signal }).catch(() => {});
    }
  };
  return loop();
}
