import { setTimeout as sleep } from "node:timers/promises";
import type { Db } from "#projections/projection.ts";

const EVERY_MS = 2_000;

/** Where the documents' read model stands, and whether an event between here and there was about a document. */
const STANDING = `
  select c.position, c.build, exists (
    select from log.events e where e.position > $1 and e.position <= c.position and e.type = any ($2)) as changed
  from log.checkpoints c where c.name = 'documents'`;

/**
 * Counts everything: 100,000 documents take 30 ms by an index that holds all that is counted. One process at a time; the
 * others leave it at that.
 */
const REFRESH = `
  with turn as materialized (
    select pg_try_advisory_xact_lock(hashtext('svc'), hashtext('summaries')) as mine
  ), counted as (
    select collection_id,
           (count(*) filter (where status = 'ready'))::integer as ready,
           (count(*) filter (where status in ('pending', 'processing')))::integer as pending,
           (count(*) filter (where status = 'failed'))::integer as failed,
           count(*)::integer as total,
           coalesce(sum(size_bytes) filter (where status = 'ready'), 0)::bigint as bytes
    from read.documents group by collection_id
  ), emptied as (
    delete from ops.collection_summaries s
    where (select mine from turn) and not exists (select from counted c where c.collection_id = s.collection_id)
  )
  insert into ops.collection_summaries as s (collection_id, ready, pending, failed, total, bytes)
  select collection_id, ready, pending, failed, total, bytes from counted where (select mine from turn)
  on conflict (collection_id) do update
    set ready = excluded.ready, pending = excluded.pending, failed = excluded.failed, total = excluded.total, bytes = excluded.bytes
    where (s.ready, s.pending, s.failed, s.total, s.bytes)
      is distinct from (excluded.ready, excluded.pending, excluded.failed, excluded.total, excluded.bytes)`;

export interface SummariesOptions {
  db: Db;
  /** Types of the events that the documents' read model follows. */
  types: string[];
  onError(error: unknown): void;
}

interface Place {
  position: number;
  build: number;
}

/** Refreshes what collections hold; `seen` is where the last refresh stood. Answers with where this one stands. */
export async function refreshSummaries(
  { db, types }: Omit<SummariesOptions, "onError">,
  seen?: Place,
): Promise<Place | undefined> {
  const [standing] = await db.query<Place & { changed: boolean }>(STANDING, [seen?.position ?? 0, types]);
  if (!standing) return seen;
  const { changed, ...place } = standing;
  if (!seen || changed || place.build !== seen.build) await db.query(REFRESH);
  return place;
}

/** Every two seconds (spec: a summary that refreshes on a timer), where documents have changed. */
export function keepSummaries(options: SummariesOptions) {
  const stopped = new AbortController();
  const { signal } = stopped;
  const keeping = (async () => {
    let seen: Place | undefined;
    while (!signal.aborted) {
      try {
        seen = await refreshSummaries(options, seen);
      } catch (error) {
        options.onError(error);
      }
      await sleep(EVERY_MS, undefined, { signal }).catch(() => {});
    }
  })();
  return {
    async stop(): Promise<void> {
      stopped.abort();
      await keeping;
    },
  };
}
