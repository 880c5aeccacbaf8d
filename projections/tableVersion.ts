import type { Db } from "./projection.ts";

/** A version is looked up at most this often, while somebody asks for it. */
const LOOK_MS = 500;
/** Maximum age of a version that is returned. */
const MAX_AGE_MS = 1_000;

/**
 * A value that differs after each change of a read model's table; undefined if it is not known now, so read the rows instead.
 * `updated_at` alone would miss a change while the database's clock is set back.
 */
export type TableVersion = () => string | undefined;

/**
 * Lets a cache keep what it read of one organization as long as nobody changes the table: one query for all of them in half a second
 * instead of one for each. The rows are few and change rarely, and removed ones stay. What is read after a version was returned is
 * at least as new as that version.
 */
export function createTableVersion(db: Db, table: "budgets" | "providers"): TableVersion {
  let known: { version: string; at: number } | undefined;
  let isLooking = false;
  async function look(): Promise<void> {
    isLooking = true;
    const at = performance.now();
    const [row] = await db.query<{ version: string }>(
      `select concat(count(*), ' ', sum(extract(epoch from updated_at))) as version from read.${table}`,
    );
    known = { version: row!.version, at };
  }
  return () => {
    const age = known ? performance.now() - known.at : Infinity;
    if (age > LOOK_MS && !isLooking)
      // without a version, its readers read the rows, and report a failure
      look()
        .catch(() => {})
        .finally(() => (isLooking = false));
    return age < MAX_AGE_MS ? known?.version : undefined;
  };
}
