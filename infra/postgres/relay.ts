import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import type { EventLog, ScannedEvent } from "#events/ports.ts";

const EVERY_MS = 250;
/** How often it asks what was lost where it publishes to. */
const RESUME_EVERY_MS = 30_000;
/** While it publishes, it puts down how far it has come after so many rounds; what it has published since comes twice if it dies. */
const KEEP_EVERY = 20;
/** From one round of one that hears of commits to the next: it takes what came meanwhile. */
const APART_MS = 2;

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
  /** From where to go on where it has published up to a position: asked at first, after what failed, and every 30 s. */
  resume?(position: number): Promise<number>;
  /** Calls the listener when something was committed; without it the log is polled. */
  onCommitted?(listener: () => void): () => void;
  onError(error: unknown): void;
}

/** Follows the log and publishes events before it moves its checkpoint, so none is left out and a few come twice. */
export function relay(options: RelayOptions, signal: AbortSignal): Promise<void> {
  const { pool, log, name } = options;

  /** How far it has published, and how far it has put that down. */
  let [after, kept] = [-1, -1];
  let rounds = 0;
  let resumeAt = 0;

  async function read(): Promise<number> {
    const { rows } = await pool.query<{ position: number }>({
      name: "relay",
      text: "select position from log.checkpoints where name = $1",
      values: [name],
    });
    return rows[0]?.position ?? 0;
  }
  async function keep(): Promise<void> {
    if (after === kept) return;
    const position = after;
    await pool.query({
      name: "relayed",
      text: `insert into log.checkpoints (name, version, position) values ($1, 1, $2)
             on conflict (name) do update set position = greatest(log.checkpoints.position, excluded.position)`,
      values: [name, position],
    });
    kept = position;
  }

  const step = async (): Promise<boolean> => {
    if (after < 0) after = kept = await read();
    if (options.resume && performance.now() >= resumeAt) {
      after = await options.resume(after);
      resumeAt = performance.now() + RESUME_EVERY_MS;
    }
    const { events, seen } = await log.scan(after, options.types, options.batch);
    await options.publish(events).catch((error: unknown) => {
      resumeAt = 0;
      throw error;
    });
    after = seen;
    if (events.length === 0 || ++rounds % KEEP_EVERY === 0) await keep();
    return events.length === options.batch;
  };

  let heard = false;
  let wake = (): void => {};
  const deafen = options.onCommitted?.(() => {
    heard = true;
    wake();
  });
  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(() => wake(), ms);
      wake = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", wake);
        resolve();
      };
      signal.addEventListener("abort", wake);
    });

  const loop = async (): Promise<void> => {
    while (!signal.aborted) {
      heard = false;
      const began = performance.now();
      const more = await step().catch((error) => options.onError(error));
      if (more || signal.aborted) continue;
      const rest = options.onCommitted ? began + APART_MS - performance.now() : 0;
      if (rest > 0) await sleep(rest, undefined, { signal }).catch(() => {});
      if (!heard && !signal.aborted) await pause(EVERY_MS);
    }
  };
  return loop().finally(deafen);
}
