import type { Db } from "./projection.ts";

/** The version of a table is looked up at most this often, while somebody asks for it. */
const LOOK_MS = 500;
/** Of the time that a look takes. While a table has become so large that looks take long, caches read rows as if nobody looked. */
const MIN_REST = 50;
/** Maximum age of a version that decides. */
const MAX_AGE_MS = 1_000;

/** Tells whether a table has changed since something was read from it. */
export interface TableChanges {
  /** Reads something of the table, and remembers the table's version. */
  read<T extends object>(load: () => Promise<T>): Promise<T>;
  /** Whether the table has not changed since this was read. False if that is unknown. */
  isUnchanged(value: object): boolean;
}

/**
 * Lets caches keep what they read of each organization while nobody changes the table: one query for all of them every half second
 * instead of one for each. The table must have few rows that change rarely, and keep removed ones. Its newest `updated_at` alone
 * would miss a change while the database's clock is set back.
 */
export function watchTable(db: Db, table: "budgets" | "providers"): TableChanges {
  const versions = new WeakMap<object, string>();
  let known: { version: string; at: number; took: number } | undefined;
  let isLooking = false;
  async function look(): Promise<void> {
    isLooking = true;
    const at = performance.now();
    try {
      const [row] = await db.query<{ version: string }>(
        `select concat(count(*), ' ', sum(extract(epoch from updated_at))) as version from read.${table}`,
      );
      known = { version: row!.version, at, took: performance.now() - at };
    } catch {
      // without a version the caches read the rows, and report a failure
    }
    isLooking = false;
  }
  /** Undefined until it is looked up. */
  function version(): string | undefined {
    const age = known ? performance.now() - known.at : Infinity;
    if (age > Math.max(LOOK_MS, (known?.took ?? 0) * MIN_REST) && !isLooking) void look();
    return age < MAX_AGE_MS ? known?.version : undefined;
  }
  return {
    async read(load) {
      // before the rows, so that a change in between counts as one
      const before = version();
      const value = await load();
      if (before !== undefined) versions.set(value, before);
      return value;
    },
    isUnchanged(value) {
      const then = versions.get(value);
      return then !== undefined && then === version();
    },
  };
}
