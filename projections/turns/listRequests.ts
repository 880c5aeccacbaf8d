import { escapeJson } from "#events/json.ts";
import { mapInSlices } from "#events/slices.ts";
import type { FinishReason, Message, TurnAgent, Usage } from "#events/thread.ts";
import { decode, decodeOrNull, encode, type Db } from "../projection.ts";
import type { TurnRow } from "./query.ts";

/** A turn in the list of an organization's requests. */
export interface RequestRow {
  id: string;
  thread_id: string;
  principal: string;
  /** Name of the key or person; null if it no longer exists. */
  principal_name: string | null;
  model: string;
  agent: (Pick<TurnAgent, "agent_id" | "version"> & { name: string | null }) | null;
  status: TurnRow["status"];
  streamed: boolean;
  /** The messages of the request; null if they are long or erased. */
  input: Message[] | null;
  finish_reason: FinishReason | null;
  usage: Usage | null;
  error: string | null;
  code: string | null;
  attempt: number;
  started_at: Date;
  ended_at: Date | null;
}

/** Null fields do not filter. `from` is inclusive, `to` exclusive. */
export interface RequestFilter {
  status: TurnRow["status"] | null;
  principal: string | null;
  model: string | null;
  agent_id: string | null;
  thread_id: string | null;
  /** Only turns of these owners. */
  scopes: string[] | null;
  /** Only turns whose error contains this text, ignoring case. */
  error: string | null;
  /** Only turns whose question (their last message) contains all of these, ignoring case. Very long questions are not searched. */
  words: string[] | null;
  from: Date | null;
  to: Date | null;
}

/** A place in the list: the turn before it. */
export interface RequestPlace {
  started_at: Date;
  id: string;
}

/** Maximum turns that one page examines, so that a filter with few matches does not read all of them. */
const MAX_SCANNED = 10_000;
/** Maximum bytes of stored messages that one page searches for words: PostgreSQL searches some 100 MB a second. */
const MAX_SEARCHED = 16_000_000;
/** Maximum bytes of stored messages read for one row. */
const MAX_INPUT = 65_536;

const IN_RANGE = `from read.turns where organization_id = $1 and ($2::timestamptz is null or started_at >= $2) and ($3::timestamptz is null or started_at < $3)
    and ($4::timestamptz is null or (started_at, id) < ($4, $5::uuid))
    and ($6::uuid is null or thread_id = $6) and ($7::text[] is null or scope = any($7))`;
const SCANNED = `select id, thread_id, principal, model, agent, status, streamed, finish_reason, usage, error, code, attempt, started_at, ended_at,
    case when octet_length(input) <= ${MAX_INPUT} then input end as input
  ${IN_RANGE}`;
const NEWEST_FIRST = "order by started_at desc, id desc";
const NEWEST = `${SCANNED} ${NEWEST_FIRST} limit ${MAX_SCANNED}`;
/** The first turns, up to the one that reaches MAX_SEARCHED. PostgreSQL knows the length of a text without reading it. */
const SEARCHED = `select * from (
    select newest.*, sum(octet_length(input)) over (${NEWEST_FIRST} rows between unbounded preceding and 1 preceding) as searched
    from (${NEWEST}) newest
  ) measured where coalesce(searched, 0) < ${MAX_SEARCHED}`;
const MATCHING = `($8::text is null or status = $8) and ($9::text is null or principal = $9) and ($10::text is null or model = $10)
  and ($11::text is null or agent::json->>'agent_id' = $11) and ($12::text is null or position(lower($12) in lower(error)) > 0)`;
/** Also finds turns with the words in other messages or in names of fields; `hasWords` then checks the question itself. */
const MAY_HAVE_WORDS = "and lower(input) like all (array(select lower(pattern) from unnest($14::text[]) pattern))";

type EncodedColumn = "principal_name" | "input" | "usage" | "error" | "code";
type StoredRow = Omit<RequestRow, EncodedColumn | "agent"> &
  Record<EncodedColumn | "agent" | "agent_name", string | null> & { exists: boolean };

function parseRow({ agent, agent_name, exists, ...row }: StoredRow): RequestRow {
  const turnAgent = decodeOrNull<TurnAgent>(agent);
  return {
    ...row,
    principal_name: decodeOrNull(row.principal_name),
    model: decode(row.model),
    agent: turnAgent && { ...turnAgent, name: decodeOrNull(agent_name) },
    // an erased turn keeps its public fields until its row is removed
    input: exists ? decodeOrNull(row.input) : null,
    error: exists ? decodeOrNull(row.error) : null,
    usage: decodeOrNull(row.usage),
    code: decodeOrNull(row.code),
  };
}

/** The pattern for a word in messages, which are stored as JSON. */
const toPattern = (word: string): string => `%${escapeJson(word).replace(/[\\%_]/g, "\\$&")}%`;

/** An erased question has no words. */
function hasWords({ input }: RequestRow, words: string[]): boolean {
  const question = input?.at(-1)?.text?.toLowerCase();
  return question !== undefined && words.every((word) => question.includes(word.toLowerCase()));
}

/** The turn after which the next page begins, if fewer turns than a page were found; null: there are no more. */
async function findNext(db: Db, range: unknown[], isSearch: boolean): Promise<RequestPlace | null> {
  const scanned = isSearch
    ? `select started_at, id from (${SEARCHED}) scanned order by started_at, id limit 1`
    : `${SCANNED} ${NEWEST_FIRST} limit 1 offset ${MAX_SCANNED - 1}`;
  const [last] = await db.query<RequestPlace>(scanned, range);
  if (!last) return null;
  const { started_at, id } = last;
  const older = await db.query(`${SCANNED} limit 1`, [...range.slice(0, 3), started_at, id, ...range.slice(5)]);
  return older.length > 0 ? { started_at, id } : null;
}

/** The turns of a model with a status. */
export interface RequestCount {
  model: string;
  status: TurnRow["status"];
  turns: number;
}

/** Maximum turns that one count examines. */
export const MAX_COUNTED = 100_000;
/** Maximum models and states that one count names. */
const MAX_COUNTS = 200;
/** The row without a model says how many turns were examined, also where none matches. */
const COUNTED = `with examined as materialized (select model, status, principal, agent, error ${IN_RANGE} ${NEWEST_FIRST} limit $13)
  select null as model, null as status, count(*)::int as turns from examined
  union all (select model, status, count(*)::int as turns from examined where ${MATCHING}
    group by model, status order by turns desc, model, status limit ${MAX_COUNTS})`;

/** Counts an organization's turns by model and status, the most frequent first. `isWhole`: all were examined, not only the newest `most`. */
export async function countRequests(
  db: Db,
  organization: string,
  { status, principal, model, agent_id, thread_id, scopes, error, from, to }: Omit<RequestFilter, "words">,
  most = MAX_COUNTED,
): Promise<{ counts: RequestCount[]; isWhole: boolean }> {
  const range = [organization, from, to, null, null, thread_id, scopes];
  const filters = [status, principal, encode(model), agent_id, error && escapeJson(error)];
  const rows = await db.query<RequestCount | { model: null; turns: number }>(COUNTED, [...range, ...filters, most + 1]);
  const counts = rows.flatMap((row) => (row.model === null ? [] : [{ ...row, model: decode<string>(row.model) }]));
  return { counts, isWhole: rows.find((row) => row.model === null)!.turns <= most };
}

/** An organization's turns after a place, newest first. A page may be short or even empty although `next` leads further. */
export async function listRequests(
  db: Db,
  organization: string,
  { status, principal, model, agent_id, thread_id, scopes, error, words, from, to }: RequestFilter,
  { after, limit }: { after: RequestPlace | undefined; limit: number },
): Promise<{ rows: RequestRow[]; next: RequestPlace | null }> {
  const range = [organization, from, to, after?.started_at ?? null, after?.id ?? null, thread_id, scopes];
  // the error is stored as JSON
  const filters = [status, principal, encode(model), agent_id, error && escapeJson(error), limit + 1];
  const [scanned, matching, searched] =
    words === null ? [NEWEST, MATCHING, []] : [SEARCHED, `${MATCHING} ${MAY_HAVE_WORDS}`, [words.map(toPattern)]];
  const found = await db.query<StoredRow>(
    `select t.*, coalesce(k.name, u.name) as principal_name, a.name as agent_name, (d.thing is not null) as exists
     from (select * from (${scanned}) scanned where ${matching} ${NEWEST_FIRST} limit $13) t
     left join log.keys d on d.thing = 'turn-' || t.id
     left join read.keys k on k.id = case when t.principal ~ '^key:[0-9a-f-]{36}$' then substr(t.principal, 5)::uuid end
     left join read.users u on u.id = case when t.principal ~ '^person:[0-9a-f-]{36}$' then substr(t.principal, 8)::uuid end
     left join read.agents a on a.id = (t.agent::json->>'agent_id')::uuid
     ${NEWEST_FIRST}`,
    [...range, ...filters, ...searched],
  );
  const rows = await mapInSlices(found.slice(0, limit), parseRow);
  const next = found.length > limit ? rows.at(-1)! : await findNext(db, range, words !== null);
  return { rows: words === null ? rows : rows.filter((row) => hasWords(row, words)), next };
}
