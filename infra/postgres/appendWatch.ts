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

/** Hears of each append of this process: with the error of one that failed. */
export type AppendListener = (error?: unknown) => void;

export interface AppendWatch {
  listener: AppendListener;
  /** Why the newest append failed; undefined if it did not, or if PostgreSQL can be written again. */
  problem(): string | undefined;
  stop(): void;
}

/**
 * Remembers whether PostgreSQL took the newest append. A server whose disk is full answers queries, so only writes show it. While
 * it refuses, a small write is tried every 1.5 s: a process that is out of the load balancer gets no requests that would show the end.
 */
export function watchAppends(pool: pg.Pool, logger: Logger, probe_ms = PROBE_MS): AppendWatch {
  let problem: string | undefined;
  let probing: AbortController | undefined;

  const onWritten = (): void => {
    if (problem === undefined) return;
    problem = undefined;
    probing?.abort();
    logger.info("database takes appends again");
  };
  const onRefused = (error: unknown): void => {
    const refusal = asUnavailable(error);
    const isFirst = problem === undefined;
    problem = refusal instanceof Error ? refusal.message : String(refusal);
    if (!isFirst) return;
    logger.error({ err: error }, "database refuses appends");
    probing = new AbortController();
    const { signal } = probing;
    // the append that failed is the first probe
    const probe = async () => {
      if (signal.aborted) return;
      await pool.query(PROBE);
      onWritten();
    };
    setTimeout(() => void repeat(probe_ms, probe, () => {}, signal), probe_ms).unref();
  };

  return {
    listener: (error) => {
      if (error === undefined) onWritten();
      else if (isStoreFault(error)) onRefused(error);
    },
    problem: () => problem,
    stop: () => probing?.abort(),
  };
}
