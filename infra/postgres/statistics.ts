import type pg from "pg";
import type { Logger } from "pino";

const FIRST_ANALYSIS = 1_000;
const GROWTH = 4;

/** The next position at which the tables are analyzed: 1,000, 4,000, 16,000 and so on. */
export function nextAnalysis(position: number): number {
  let next = FIRST_ANALYSIS;
  while (next <= position) next *= GROWTH;
  return next;
}

/**
 * The tables, each with the columns used in its indexes. Plans depend on these; the other columns have the large values, and would
 * take most of an analysis.
 */
const TABLES = `
  select format('%I.%I', n.nspname, c.relname) as name, string_agg(distinct quote_ident(a.attname), ', ') as columns
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
    join pg_index i on i.indrelid = c.oid
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and (a.attnum = any (i.indkey) or exists (
      select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = i.indexrelid
        and d.refclassid = 'pg_class'::regclass and d.refobjid = c.oid and d.refobjsubid = a.attnum))
  where n.nspname in ('log', 'read', 'ops') and c.relkind = 'r'
  group by c.oid, n.nspname, c.relname`;

/**
 * Analyzes all tables each time the log has grown fourfold. Cached plans are then made again with the new statistics, also in other
 * processes. Autovacuum does the same up to a minute later, in which a young log can grow a hundredfold.
 */
export function createStatistics(pool: pg.Pool, logger: Logger) {
  let next: number | undefined;
  let running: Promise<void> | undefined;

  async function analyze(): Promise<void> {
    const { rows } = await pool.query<{ name: string; columns: string }>(TABLES);
    for (const { name, columns } of rows) await pool.query(`analyze (skip_locked) ${name} (${columns})`);
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
    /** Resolves when no analysis is running. */
    finish: async (): Promise<void> => running,
  };
}
