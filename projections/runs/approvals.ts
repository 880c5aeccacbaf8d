import { isUuid } from "#events/ids.ts";
import type { Actor } from "#events/run.ts";
import type { ApprovalText } from "#events/runParts.ts";
import type { z } from "zod";
import type { Envelope } from "#events/workflow.ts";
import { decodeOrNull, decode, encode, type Db } from "../projection.ts";
import { assigneePattern } from "./assignees.ts";

export type ApprovalStatus = "pending" | "approved" | "rejected" | "expired" | "cancelled";

type Named = Pick<Actor, "type" | "id"> & { name: string | null };

export interface VoteRow {
  /** `name` is null if the person or the key no longer exists. */
  by: Named;
  decision: "approve" | "reject";
  data: unknown;
  comment: string | null;
  at: Date;
}

export interface ApprovalRow {
  id: string;
  run_id: string;
  workflow_id: string;
  project_id: string | null;
  status: ApprovalStatus;
  name: string;
  title: string;
  body: string | null;
  /** JSON Schema of the form that the decider of the approval fills in. */
  form: Record<string, unknown> | null;
  assignees: z.infer<typeof ApprovalText>["assignees"];
  self_approval: boolean;
  allow_api_key: boolean;
  /** Equal votes that decide. */
  required: number;
  one_rejection_ends: boolean;
  /** In the order of casting; only when more than one is required. */
  votes: VoteRow[];
  decision: "approve" | "reject" | null;
  data: unknown;
  comment: string | null;
  /** `name` is null if the person or the key no longer exists. */
  decided_by: Named | null;
  decided_at: Date | null;
  expires_at: Date;
  created_at: Date;
  /** The actor that started the run. */
  started_by: Actor;
  /** The rules of the workflow now; null if the workflow cannot be read. */
  rules: Envelope["approvals"] | null;
}

const FROM = `from read.approvals a join read.runs r on r.id = a.run_id
  left join read.workflows w on w.id = a.workflow_id and w.organization_id = a.organization_id`;
const RULES = "w.envelope::json -> 'approvals'";
const VOTES = `select json_agg(json_build_object('type', v.by_type, 'id', v.by_id, 'name', coalesce(vu.name, vy.name),
      'decision', v.decision, 'data', v.data, 'comment', v.comment, 'at', v.at) order by v.version)
    from read.approval_votes v
    left join read.users vu on vu.id = case when v.by_type = 'person' then v.by_id::uuid end
    left join read.keys vy on vy.id = case when v.by_type = 'api_key' then v.by_id::uuid end
    where v.approval_id = a.id and v.organization_id = a.organization_id`;
const COLUMNS = `a.id, a.run_id, a.workflow_id, a.project_id, a.status, a.name, a.title, a.body, a.form, a.assignees,
    a.self_approval, a.allow_api_key, a.decision, a.data, a.comment, a.decided_by_type, a.decided_by_id,
    coalesce(u.name, y.name) as decided_by_name, a.decided_at, a.expires_at, a.created_at, a.started_by, a.rules,
    coalesce(a.required, 1) as required, coalesce(a.one_rejection_ends, true) as one_rejection_ends,
    case when a.required is null then null else (${VOTES}) end as votes`;
const JOINED = `join log.keys k on k.thing = 'run-' || a.run_id
  left join read.users u on u.id = case when a.decided_by_type = 'person' then a.decided_by_id::uuid end
  left join read.keys y on y.id = case when a.decided_by_type = 'api_key' then a.decided_by_id::uuid end`;
/** In the order of request. The page is cut before the joins. */
const ORDER = "order by a.created_at, a.version, a.id";
const select = (which: string, page = ""): string =>
  `select ${COLUMNS} from (select a.*, r.started_by, ${RULES} as rules ${FROM} ${which} ${ORDER} ${page}) a ${JOINED} ${ORDER}`;

interface StoredRow
  extends Omit<ApprovalRow, "name" | "title" | "form" | "assignees" | "data" | "decided_by" | "started_by" | "votes"> {
  name: string;
  title: string;
  form: string | null;
  assignees: string;
  data: string | null;
  decided_by_type: Actor["type"] | null;
  decided_by_id: string | null;
  decided_by_name: string | null;
  started_by: string;
  votes: StoredVote[] | null;
}

interface StoredVote {
  type: Actor["type"];
  id: string;
  name: string | null;
  decision: "approve" | "reject";
  data: string | null;
  comment: string | null;
  at: string;
}

const parseVote = ({ type, id, name, decision, data, comment, at }: StoredVote): VoteRow => ({
  by: { type, id, name: decodeOrNull(name) },
  decision,
  data: decodeOrNull(data),
  comment: decodeOrNull(comment),
  at: new Date(at),
});

const parseRow = ({ decided_by_type: type, decided_by_id: id, decided_by_name, ...row }: StoredRow): ApprovalRow => ({
  ...row,
  name: decode(row.name),
  title: decode(row.title),
  body: decodeOrNull(row.body),
  form: decodeOrNull(row.form),
  assignees: decode(row.assignees),
  data: decodeOrNull(row.data),
  comment: decodeOrNull(row.comment),
  decided_by: type === null || id === null ? null : { type, id, name: decodeOrNull(decided_by_name) },
  started_by: decode(row.started_by),
  votes: (row.votes ?? []).map(parseVote),
});

const ONE = `select one.*, (select s.position <= c.position from log.streams s, log.checkpoints c
    where s.stream = 'run-' || one.run_id and c.name = 'runs') as is_fresh
  from (${select("where a.id = $2 and a.organization_id = $1")}) one`;

/** `isFresh`: the row includes all events of its run that are in the log now. */
export async function getApproval(
  db: Db,
  organization: string,
  id: string,
): Promise<{ row: ApprovalRow; isFresh: boolean } | undefined> {
  if (!isUuid(id)) return undefined;
  const [found] = await db.query<StoredRow & { is_fresh: boolean | null }>(ONE, [organization, id]);
  if (!found) return undefined;
  const { is_fresh, ...row } = found;
  return { row: parseRow(row), isFresh: is_fresh === true };
}

/** All approvals of a run. */
export async function listRunApprovals(db: Db, run: string): Promise<ApprovalRow[]> {
  const rows = await db.query<StoredRow>(select("where a.run_id = $1"), [run]);
  return rows.map(parseRow);
}

/** A person, with everything by which approvals name assignees. */
export interface Approver {
  user_id: string;
  email: string;
  role: string;
  groups: string[];
}

const namesOf = ({ user_id, email, role, groups }: Approver) => [
  { person: user_id },
  { person: email },
  { role },
  ...groups.map((group) => ({ group })),
];

const OF_ORGANIZATION = `where a.organization_id = $1 and ($2::text is null or a.status = $2)
  and ($3::text[] is null or ((a.assigned is null or a.assigned like any ($3)) and (r.started_by <> $4
    or (a.self_approval and coalesce((${RULES} ->> 'self_approval')::boolean, true)))
    and not exists (select from read.approval_votes v
      where v.approval_id = a.id and v.organization_id = a.organization_id and a.status = 'pending' and v.by_type = 'person' and v.by_id = $5)))`;

/** An organization's approvals, oldest first. `mine`: only those that this person may decide and has not voted on. */
export async function listApprovals(
  db: Db,
  organization: string,
  { status, mine }: { status: ApprovalStatus | null; mine: Approver | null },
  { limit, offset }: { limit: number; offset: number },
): Promise<{ rows: ApprovalRow[]; total: number }> {
  const patterns = mine && namesOf(mine).map(assigneePattern);
  const own = mine && encode({ type: "person", id: mine.user_id } satisfies Actor);
  const values = [organization, status, patterns, own, mine?.user_id ?? null];
  const rows = await db.query<StoredRow>(select(OF_ORGANIZATION, "limit $6 offset $7"), [...values, limit, offset]);
  const [count] = await db.query<{ total: number }>(
    `select count(*)::integer as total ${FROM} ${OF_ORGANIZATION}`,
    values,
  );
  return { rows: rows.map(parseRow), total: count!.total };
}

const DECIDED_BY = `where a.organization_id = $1 and ((a.decided_by_type = $2 and a.decided_by_id = $3)
    or exists (select from read.approval_votes v
      where v.approval_id = a.id and v.organization_id = a.organization_id and v.by_type = $2 and v.by_id = $3))
  and ($4::timestamptz is null or (a.created_at, a.version, a.id) > ($4, $5::integer, $6::uuid))`;

/** The approvals that a person or a key decided or voted on, oldest first, after the given one. */
export async function listDecidedBy(
  db: Db,
  organization: string,
  by: Pick<Actor, "type" | "id">,
  { after, limit }: { after: string | null; limit: number },
): Promise<ApprovalRow[]> {
  const [last] = after
    ? await db.query<{ created_at: Date; version: number }>(
        "select created_at, version from read.approvals where id = $1",
        [after],
      )
    : [];
  const rows = await db.query<StoredRow>(select(DECIDED_BY, "limit $7"), [
    organization,
    by.type,
    by.id,
    last?.created_at ?? null,
    last?.version ?? null,
    last ? after : null,
    limit,
  ]);
  return rows.map(parseRow);
}
