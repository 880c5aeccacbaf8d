import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import type { EventLog, ScannedEvent } from "#events/ports.ts";
import { createInterruptiblePause } from "./pause.ts";

const POLL_MS = 250;
const RESUME_EVERY_MS = 30_000;
/** Rounds between two saves of the checkpoint while events keep coming. A crash publishes the events of these rounds again. */
const ROUNDS_PER_SAVE = 20;
/** Positions after which it is saved earlier, because its distance from the log's head counts as lag (FollowerBehind, from 1,000 on). */
const MAX_UNSAVED = 500;
/**
 * Minimum milliseconds between two rounds triggered by commit hints: the first starts at once, the second takes everything that
 * came meanwhile. With 2 ms, the feed takes a tenth of the processor time of consecutive turns, so that is only used while somebody
 * waits for the events.
 */
const MIN_ROUND_MS = { isAwaited: 2, else: 20 };

/** A round that took longer has waited, for the bus for example. */
const MAX_REST_MS = 250;

export interface RelayOptions {
  pool: pg.Pool;
  log: Pick<EventLog, "scan">;
  /** Name of its checkpoint. */
  name: string;
  /** Event types to publish. */
  types: string[];
  /** Maximum number of events in one round. */
  batch: number;
  /** Resolves when none of the events can be lost any more. */
  publish(events: ScannedEvent[]): Promise<void>;
  /** Returns the position to continue from after publishing up to `position`. Called at the start, after a failed publish, and every 30 s. */
  resume?(position: number): Promise<number>;
  /** Subscribes to commits. If absent, the log is only polled. */
  onCommitted?(listener: () => void): () => void;
  /** Whether somebody is waiting for published events now. */
  isAwaited?(): boolean;
  onError(error: unknown): void;
}

async function readCheckpoint(pool: pg.Pool, name: string): Promise<number> {
  const { rows } = await pool.query<{ position: number }>({
    name: "relay",
    text: "select position from log.checkpoints where name = $1",
    values: [name],
  });
  return rows[0]?.position ?? 0;
}

async function saveCheckpoint(pool: pg.Pool, name: string, position: number): Promise<void> {
  await pool.query({
    name: "relayed",
    text: `insert into log.checkpoints (name, version, position) values ($1, 1, $2)
           on conflict (name) do update set position = greatest(log.checkpoints.position, excluded.position)`,
    values: [name, position],
  });
}

/** Publishes the next batch. Returns whether there may be more. */
function createRound({ pool, log, name, types, batch, publish, resume }: RelayOptions): () => Promise<boolean> {
  let [published, saved] = [-1, -1];
  let rounds = 0;
  let resume_at = 0;

  const save = async (): Promise<void> => {
    if (published === saved) return;
    const position = published;
    await saveCheckpoint(pool, name, position);
    saved = position;
  };

  return async () => {
    if (published < 0) published = saved = await readCheckpoint(pool, name);
    if (resume && performance.now() >= resume_at) {
      published = await resume(published);
      resume_at = performance.now() + RESUME_EVERY_MS;
    }
    const { events, seen } = await log.scan(published, types, batch);
    await publish(events).catch((error: unknown) => {
      resume_at = 0;
      throw error;
    });
    published = seen;
    const isOld = published - saved >= MAX_UNSAVED;
    if (events.length === 0 || isOld || ++rounds % ROUNDS_PER_SAVE === 0) await save();
    return events.length === batch;
  };
}

/** Publishes the log's events in order. Saves its checkpoint after publishing, so that none is left out, but a crash repeats some. */
export async function relay(options: RelayOptions, signal: AbortSignal): Promise<void> {
  const runRound = createRound(options);
  const pause = createInterruptiblePause();
  let hasNewCommit = false;
  const unsubscribe = options.onCommitted?.(() => {
    hasNewCommit = true;
    pause.cut(0);
  });
  signal.addEventListener("abort", () => pause.cut(0));

  try {
    while (!signal.aborted) {
      hasNewCommit = false;
      const began = performance.now();
      const more = await runRound().catch((error) => options.onError(error));
      if (signal.aborted) break;
      if (more) {
        // many events, as after the feed's stream was lost: requests get at least half of the process
        const took = Math.min(performance.now() - began, MAX_REST_MS);
        if (took > 0) await sleep(took, undefined, { signal }).catch(() => {});
        continue;
      }
      const gather = options.isAwaited?.() ? MIN_ROUND_MS.isAwaited : MIN_ROUND_MS.else;
      const rest = options.onCommitted ? began + gather - performance.now() : 0;
      if (rest > 0) await sleep(rest, undefined, { signal }).catch(() => {});
      if (!hasNewCommit && !signal.aborted) await pause.wait(POLL_MS);
    }
  } finally {
    unsubscribe?.();
  }
}
