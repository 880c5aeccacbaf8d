import type { FastifyBaseLogger } from "fastify";
import type { Db } from "#projections/projection.ts";

const EVERY_MS = 3_000;

/** Notes when keys and sessions were last used, and writes that down in batches, away from the requests. */
export function createLastUsed(db: Db, logger: FastifyBaseLogger) {
  let seen = new Map<string, Date>();

  async function flush(): Promise<void> {
    if (seen.size === 0) return;
    const batch = seen;
    seen = new Map();
    try {
      await db.query(
        `insert into ops.last_used as old (id, at) select * from unnest($1::text[], $2::timestamptz[]) as n (id, at) order by id
         on conflict (id) do update set at = greatest(old.at, excluded.at)`,
        [[...batch.keys()], [...batch.values()]],
      );
    } catch (error) {
      for (const [id, at] of batch) if (!seen.has(id)) seen.set(id, at);
      logger.warn({ err: error }, "could not write down when credentials were last used");
    }
  }

  const timer = setInterval(() => void flush(), EVERY_MS).unref();
  return {
    used: (id: string): void => void seen.set(id, new Date()),
    async close(): Promise<void> {
      clearInterval(timer);
      await flush();
    },
  };
}
