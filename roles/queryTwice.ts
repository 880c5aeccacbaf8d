import { Unavailable } from "#events/ports.ts";
import { trackProgress } from "#projections/progress.ts";
import type { Resources } from "./resources.ts";

/** Maximum wait for a read model. */
const PROJECTION_MS = 5_000;

/**
 * Repeats a query without result after the read model has caught up, because the row may have just been created. Throws Unavailable
 * while the read model lags, because then nobody knows whether it is missing.
 */
export type QueryTwice = <T>(
  projection: string,
  query: () => Promise<T>,
  isFound: (result: T) => boolean,
) => Promise<T>;

export function createQueryTwice({ db, bus }: Pick<Resources, "db" | "bus">): QueryTwice {
  const progress = trackProgress({ hints: bus.hints, db });
  return async (projection, query, isFound) => {
    const first = await query();
    if (isFound(first)) return first;
    const [head] = await db.query<{ position: number }>("select position from log.head");
    const hasCaughtUp = await progress.waitFor([projection], Number(head!.position), PROJECTION_MS);
    const second = await query();
    if (!isFound(second) && !hasCaughtUp) throw new Unavailable(`The read model ${projection} lags.`);
    return second;
  };
}
