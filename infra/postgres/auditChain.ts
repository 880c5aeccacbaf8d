import type { AuditedEvent, AuditLog } from "#events/auditLog.ts";
import { createPause } from "#events/slices.ts";
import type { Db } from "#projections/projection.ts";
import { decodePublic } from "./decode.ts";
import { GENESIS, linkHash, type ChainedRow } from "./verify.ts";

/** Maximum stored bytes of a page, unless its first event alone is larger. Reading and hashing them takes about 40 ms, in slices. */
const MAX_BYTES = 2 * 1024 * 1024;

const FIELDS = `e.position, e.stream, e.version, e.organization_id, e.type, e.shape, e.command_id,
  ((extract(epoch from e.recorded_at) * 1000000)::bigint)::text as recorded_us, e.meta, e.data, e.thing,
  encode(e.sealed, 'hex') as sealed, encode(e.hash, 'hex') as hash`;

/** Events of an organization in order, each with the hash before it, and whether its stream has the preceding version. */
const PAGE = `
  with sized as materialized (
    select position, sum(octet_length(data) + octet_length(meta) + coalesce(octet_length(sealed), 0)) over (order by position) as bytes,
      row_number() over (order by position) as n
    from (select position, data, meta, sealed from log.events
          where organization_id = $1 and position > $2 and position <= $3 order by position limit $4) page
  )
  select ${FIELDS}, e.recorded_at, encode(before.hash, 'hex') as previous,
    e.version = 1 or exists (select from log.events own where own.stream = e.stream and own.version = e.version - 1) as follows
  from sized join log.events e using (position) left join log.events before on before.position = e.position - 1
  where sized.bytes <= ${MAX_BYTES} or sized.n = 1
  order by position`;

type Row = ChainedRow & { recorded_at: Date; previous: string | null; follows: boolean };

/** How a row differs from what was written; undefined if it does not. */
function findProblem({ previous, follows, ...row }: Row): string | undefined {
  const position = Number(row.position);
  const before = position === 1 ? GENESIS : previous;
  if (!follows) return "The event before it in its stream is missing.";
  if (before === null) return "The event before it in the log is missing.";
  return linkHash(before, row) === row.hash ? undefined : "It is not what was written.";
}

/** Recomputes the hashes of an organization's events. */
export const createChainChecker =
  (db: Db): AuditLog["checkChain"] =>
  async (organization, { after, upTo, limit }) => {
    const rows = await db.query<Row>(PAGE, [organization, after, upTo, limit]);
    const events: AuditedEvent[] = [];
    const pause = createPause();
    for (const row of rows) {
      await pause();
      const problem = findProblem(row);
      const { stream, version, type } = row;
      const position = Number(row.position);
      if (problem) return { events, broken: { position, stream, version, type, problem } };
      events.push(decodePublic({ ...row, position }, row.sealed === null ? null : Buffer.from(row.sealed, "hex")));
    }
    return { events, broken: undefined };
  };
