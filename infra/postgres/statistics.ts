import type pg from "pg";
import type { Logger } from "pino";

const FIRST_ANALYSIS = 1_000;
const GROWTH = 4;

/** The first position after this one at which the tables are analyzed: 1,000, 4,000, 16,000 and so on. */
export function nextAnalysis(position: number): number {
  let next = FIRST_ANALYSIS;
  while (next <= position) next *= GROWTH;
  return next;
}

const TABLES =
  "select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname in ('log', 'read', 'ops')";

/**
 * Analyzes all tables each time the log has grown fourfold. Kept plans are made again with the new statistics, also in other
 * processes. PostgreSQL's autovacuum does the same, but up to a minute later, in which a young log can grow a hundredfold.
 */
export function createStatistics(pool: pg.Pool, logger: Logger) {
  let next: number | undefined;
  let running: Promise<void> | undefined;

  async function analyze(): Promise<void> {
    const { rows } = await pool.query<{ name: string }>(TABLES);
    for (const { name } of rows) await pool.query(`analyze (skip_locked) ${name}`);
  }

  return {
    /** Starts an analysis if the log has passed the next threshold. Does not wait for it. */
    noteProgress(position: number): void {
      next ??= nextAnalysis(position);
      if (position < next || running) return;
      next = nextAnalysis(position);
      running = analyze()
        .catch((err: unknown) => logger.warn({ err }, "tables not analyzed"))
        .finally(() => (running = undefined));
    },
    /** Resolves when no analysis runs. */
    finish: async (): Promise<void> => running,
  };
}
