import type pg from "pg";
import type { Logger } from "pino";
import { asUnavailable, isStoreFault } from "./errors.ts";
import { repeat } from "./repeat.ts";

const PROBE_MS = 1_500;
/**
 * Writes what an append writes, a row of `log.commands`, and undoes it. The row has 25 KB: it fits into no page that the table has,
 * so its files must grow.
 */
const PROBE = `do $$ begin
    insert into log.commands (command_id, organization_id, position, rejection, recorded_at)
      select gen_random_uuid()::text, gen_random_uuid(), 0, string_agg(gen_random_uuid()::text, ''), now()
      from generate_series(1, 700);
    raise exception using errcode = 'SVC01';
  exception when sqlstate 'SVC01' then null;
  end $$`;

/** A turn needs two appends one after the other, and the client of a command is refused after 4 s. */
const SLOW_MS = 1_500;

/** Hears of each append of this process, of which one is under way at a time. */
export interface AppendListener {
  onBegin(): void;
  /** With the error of one that failed. */
  onEnd(error?: unknown): void;
}

export interface AppendWatch {
  listener: AppendListener;
  /** Why the newest append failed or takes too long; undefined if it did not, or if PostgreSQL can be written again. */
  problem(): string | undefined;
  stop(): void;
}

const describeError = (error: unknown): string => {
  const refusal = asUnavailable(error);
  return refusal instanceof Error ? refusal.message : String(refusal);
};

/**
 * Remembers whether PostgreSQL took the newest append, and in time. A server whose disk is full or waits answers queries, so only
 * writes show it. While it refuses, a small write is tried every 1.5 s: a process that is out of the load balancer gets no requests
 * that would show the end.
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
    // the append that failed is the first probe
    const probe = async () => {
      if (signal.aborted) return;
      const began = performance.now();
      await pool.query(PROBE);
      if (performance.now() - began < slow_ms) onWritten();
    };
    setTimeout(() => void repeat(probe_ms, probe, () => {}, signal), probe_ms).unref();
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
