import type { EventLog, StreamHead } from "#events/ports.ts";
import { createSizedCache } from "#events/sizedCache.ts";
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

/**
 * Reads heads. Large states are read and parsed once per change: each platform call of a step that acts for a person reads the
 * head with all members of its organization.
 */
export function createHeadReader(db: Db, maxKept = MAX_KEPT): EventLog["heads"] {
  const kept = createSizedCache<StreamHead>({ size: maxKept });

  async function readChanged(streams: string[], known: StreamHead[]): Promise<StreamHead[]> {
    const states = new Map(known.map(({ stream, state }) => [stream, state]));
    const rows = await db.query<ChangedRow>(CHANGED_HEADS, [
      streams,
      known.map(({ stream }) => stream),
      known.map(({ position }) => position),
      known.map(({ state_version }) => state_version),
    ]);
    return rows.map(({ state, ...row }) => {
      if (state !== null) return parse({ ...row, state });
      kept.use(row.stream);
      return { ...headFrom({ ...row, state: "null" }), state: states.get(row.stream) };
    });
  }

  function parse(row: HeadRow): StreamHead {
    const head = headFrom(row);
    if (row.state.length < MIN_KEPT) kept.forget(head.stream);
    else kept.set(head.stream, head, row.state.length, head.organization_id);
    return head;
  }

  return batchLookups<StreamHead>(async (streams) => {
    const known = streams.flatMap((stream) => kept.find(stream) ?? []);
    const heads =
      known.length > 0 ? await readChanged(streams, known) : (await db.query<HeadRow>(HEADS, [streams])).map(parse);
    return new Map(heads.map((head) => [head.stream, head]));
  });
}
