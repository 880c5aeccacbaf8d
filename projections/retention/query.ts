import type { RetentionCounts, RetentionRules } from "#events/retention.ts";
import { decode, type Db } from "../projection.ts";

export interface RetentionRow {
  subject: string;
  rules: RetentionRules;
  /** Counts so far. */
  deleted: Required<RetentionCounts>;
  next_round_at: Date;
  last_round_at: Date | null;
  updated_at: Date;
}

/** The subjects of an organization with rules, in the order in which they first got some. */
export async function listRetention(db: Db, organization: string): Promise<RetentionRow[]> {
  type StoredRow = Omit<RetentionRow, "rules" | "deleted"> & Required<RetentionCounts> & { rules: string };
  const rows = await db.query<StoredRow>(
    `select subject, rules, threads, files, documents, runs, turns, next_round_at, last_round_at, updated_at from read.retention
     where organization_id = $1 and rules is not null order by created_at, id`,
    [organization],
  );
  return rows.map(({ rules, threads, files, documents, runs, turns, ...row }) => ({
    ...row,
    rules: decode(rules),
    deleted: { threads, files, documents, runs, turns },
  }));
}
