import type pg from "pg";
import type { Logger } from "pino";
import type { Db } from "#projections/projection.ts";
import { asUnavailable, isStoreFault } from "./errors.ts";
import { withQueryDeadline } from "./queryDeadline.ts";
import { runPeriodically } from "./runPeriodically.ts";

const PROBE_MS = 1_500;
/**
 * Writes a row of `log.commands`, as an append does, and rolls it back. With 25 KB the row fits into no existing page, so the
 * table's files must grow.
 */
const PROBE = `do $$ begin
    insert into log.commands (command_id, organization_id, position, rejection, recorded_at)
      select gen_random_uuid()::text, gen_random_uuid(), 0, string_agg(gen_random_uuid()::text, ''), now()
      from generate_series(1, 700);
    raise exception using errcode = 'SVC01';
  exception when sqlstate 'SVC01' then null;
  end $$`;

/** An append that takes longer is a problem: a turn needs two in sequence, and a command's client is refused after 4 s. */
export const SLOW_MS = 1_500;

/** Writes as an append does, and takes it back. Throws PostgreSQL's error, or Unavailable if that takes longer than `ms`. */
export async function tryAppend(db: Db, ms: number): Promise<void> {
  await withQueryDeadline(
    () => ms,
    () => db.query(PROBE),
  );
}

/** Observes the appends of this process, of which only one is in progress at a time. */
export interface AppendListener {
  onBegin(): void;
  /** Called with the error if the append failed. */
  onEnd(error?: unknown): void;
}

export interface AppendWatch {
  listener: AppendListener;
  /** Why the newest append failed or takes too long; undefined if it did not, or if PostgreSQL accepts writes again. */
  problem(): string | undefined;
  stop(): void;
}

const describeError = (error: unknown): string => {
  const refusal = asUnavailable(error);
  return refusal instanceof Error ? refusal.message : String(refusal);
};

/**
 * Tracks whether PostgreSQL accepted the newest append in time. A server whose disk is full or hangs still answers queries, so only
 * writes show it. While it refuses, a small write is tried every 1.5 s: a process that was taken out of the load balancer gets no
 * requests that would show the recovery.
 */
export function watchAppends(
  pool: pg.Pool,
  logger: Logger,
  { probe_ms = PROBE_MS, slow_ms = SLOW_MS } = {},
): AppendWatch {
  const slow = `PostgreSQL has not finished one within ${slow_ms / 1_000} s.`;
  let problem: string | undefined;
  let probing: AbortController | undefined;
  let beganAt: number | undefined;

  const onWritten = (): void => {
    if (problem === undefined) return;
    problem = undefined;
    probing?.abort();
    logger.info("database takes appends again");
  };
  const onProblem = (reason: string, err?: unknown): void => {
    const isFirst = problem === undefined;
    problem = reason;
    if (!isFirst) return;
    logger.error({ err, reason }, "database takes no appends");
    probing = new AbortController();
    const { signal } = probing;
    // the failed append counts as the first probe
    const probe = async () => {
      if (signal.aborted) return;
      const began = performance.now();
      await pool.query(PROBE);
      if (performance.now() - began < slow_ms) onWritten();
    };
    setTimeout(() => void runPeriodically(probe_ms, probe, () => {}, signal), probe_ms).unref();
  };
  const isSlow = (): boolean => beganAt !== undefined && performance.now() - beganAt >= slow_ms;

  return {
    listener: {
      onBegin: () => void (beganAt = performance.now()),
      onEnd(error) {
        const wasSlow = isSlow();
        beganAt = undefined;
        if (error !== undefined && isStoreFault(error)) onProblem(describeError(error), error);
        else if (wasSlow) onProblem(slow);
        else if (error === undefined) onWritten();
      },
    },
    problem: () => problem ?? (isSlow() ? slow : undefined),
    stop: () => probing?.abort(),
  };
}
