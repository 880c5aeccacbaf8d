import type { EventLog, StreamHead } from "#events/ports.ts";
import type { Db } from "#projections/projection.ts";
import { batchLookups } from "./batchLookups.ts";
import { HEAD_COLUMNS, headFrom, type HeadRow } from "./openWork.ts";

/** Characters of JSON from which a state is kept in memory: parsing a shorter one takes less than a millisecond. */
const MIN_KEPT = 32 * 1024;
/** Maximum characters of JSON of the kept states. Ten thousand members, the most of an organization, have two million. */
const MAX_KEPT = 8 * 1024 * 1024;

const HEADS = `select ${HEAD_COLUMNS} from log.streams where stream = any($1)`;
const STATE = "case when k.stream is null then s.state end as state";
/** Reads a state only if the stream has changed since `k`, or if a newer release has written it. */
const CHANGED_HEADS = `
  select ${HEAD_COLUMNS.replace(/\w+/g, "s.$&").replace("s.state,", `${STATE},`)} from log.streams s
  left join unnest($2::text[], $3::bigint[], $4::integer[]) k(stream, position, state_version)
    on k.stream = s.stream and k.position = s.position and k.state_version = s.state_version
  where s.stream = any($1)`;

/** Null: the state is the known one. */
type ChangedRow = Omit<HeadRow, "state"> & { state: string | null };

/** The heads with large states that were read last. */
function createKeptHeads(maxKept: number) {
  const kept = new Map<string, { head: StreamHead; size: number }>();
  let total = 0;
  function drop(stream: string): void {
    total -= kept.get(stream)?.size ?? 0;
    kept.delete(stream);
  }
  return {
    find: (streams: string[]): Map<string, StreamHead> =>
      new Map(streams.flatMap((stream) => (kept.has(stream) ? [[stream, kept.get(stream)!.head]] : []))),
    use(stream: string): void {
      const used = kept.get(stream);
      if (!used) return;
      kept.delete(stream);
      kept.set(stream, used);
    },
    keep(head: StreamHead, size: number): void {
      drop(head.stream);
      if (size < MIN_KEPT || size > maxKept) return;
      kept.set(head.stream, { head, size });
      total += size;
      while (total > maxKept) drop(kept.keys().next().value!);
    },
  };
}

/**
 * Reads heads. Large states are read and parsed once per change: each platform call of a step that acts for a person reads the
 * head with all members of its organization.
 */
export function createHeadReader(db: Db, maxKept = MAX_KEPT): EventLog["heads"] {
  const kept = createKeptHeads(maxKept);

  async function readChanged(streams: string[], known: Map<string, StreamHead>): Promise<StreamHead[]> {
    const heads = [...known.values()];
    const rows = await db.query<ChangedRow>(CHANGED_HEADS, [
      streams,
      heads.map(({ stream }) => stream),
      heads.map(({ position }) => position),
      heads.map(({ state_version }) => state_version),
    ]);
    return rows.map(({ state, ...row }) => {
      if (state !== null) return parse({ ...row, state });
      kept.use(row.stream);
      return { ...headFrom({ ...row, state: "null" }), state: known.get(row.stream)!.state };
    });
  }

  function parse(row: HeadRow): StreamHead {
    const head = headFrom(row);
    kept.keep(head, row.state.length);
    return head;
  }

  return batchLookups<StreamHead>(async (streams) => {
    const known = kept.find(streams);
    const heads =
      known.size > 0 ? await readChanged(streams, known) : (await db.query<HeadRow>(HEADS, [streams])).map(parse);
    return new Map(heads.map((head) => [head.stream, head]));
  });
}
