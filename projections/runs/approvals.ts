import { isUuid } from "#events/ids.ts";
import type { Actor } from "#events/run.ts";
import type { ApprovalWords } from "#events/runParts.ts";
import type { z } from "zod";
import { decode, decoded, encode, type Db } from "../projection.ts";
import { assignedTo } from "./assigned.ts";

export type ApprovalStatus = "pending" | "approved" | "rejected" | "expired" | "cancelled";

export interface ApprovalRow {
  id: string;
  run_id: string;
  workflow_id: string;
  project_id: string | null;
  status: ApprovalStatus;
  name: string;
  title: string;
  body: string | null;
  /** JSON Schema of what the one who decides fills in. */
  form: Record<string, unknown> | null;
  assignees: z.infer<typeof ApprovalWords>["assignees"];
  self_approval: boolean;
  allow_api_key: boolean;
  decision: "approve" | "reject" | null;
  data: unknown;
  comment: string | null;
  /** `name` is null where the person or the key is gone. */
  decided_by: (Pick<Actor, "type" | "id"> & { name: string | null }) | null;
  decided_at: Date | null;
  expires_at: Date;
  created_at: Date;
  /** Who started the run. */
  started_by: Actor;
}

const FROM = "from read.approvals a join read.runs r on r.id = a.run_id";
const COLUMNS = `a.id, a.run_id, a.workflow_id, a.project_id, a.status, a.name, a.title, a.body, a.form, a.assignees,
    a.self_approval, a.allow_api_key, a.decision, a.data, a.comment, a.decided_by_type, a.decided_by_id,
    coalesce(u.name, y.name) as decided_by_name, a.decided_at, a.expires_at, a.created_at, a.started_by`;
const JOINED = `join log.keys k on k.thing = 'run-' || a.run_id
  left join read.users u on u.id = case when a.decided_by_type = 'person' then a.decided_by_id::uuid end
  left join read.keys y on y.id = case when a.decided_by_type = 'api_key' then a.decided_by_id::uuid end`;
/** In the order in which they were asked for; cut to a page before more is joined. */
const ORDER = "order by a.created_at, a.version, a.id";
const select = (which: string, page = ""): string =>
  `select ${COLUMNS} from (select a.*, r.started_by ${FROM} ${which} ${ORDER} ${page}) a ${JOINED} ${ORDER}`;

interface Stored
  extends Omit<ApprovalRow, "name" | "title" | "form" | "assignees" | "data" | "decided_by" | "started_by"> {
  name: string;
  title: string;
  form: string | null;
  assignees: string;
  data: string | null;
  decided_by_type: Actor["type"] | null;
  decided_by_id: string | null;
  decided_by_name: string | null;
  started_by: string;
}

const present = ({ decided_by_type: type, decided_by_id: id, decided_by_name, ...row }: Stored): ApprovalRow => ({
  ...row,
  name: decoded(row.name),
  title: decoded(row.title),
  body: decode(row.body),
  form: decode(row.form),
  assignees: decoded(row.assignees),
  data: decode(row.data),
  comment: decode(row.comment),
  decided_by: type === null || id === null ? null : { type, id, name: decode(decided_by_name) },
  started_by: decoded(row.started_by),
});

const ONE = `select one.*, (select s.position <= c.position from log.streams s, log.checkpoints c
    where s.stream = 'run-' || one.run_id and c.name = 'runs') as is_fresh
  from (${select("where a.id = $2 and a.organization_id = $1")}) one`;

/** `isFresh`: it is as the log says at this moment. */
export async function getApproval(
  db: Db,
  organization: string,
  id: string,
): Promise<{ row: ApprovalRow; isFresh: boolean } | undefined> {
  if (!isUuid(id)) return undefined;
  const [found] = await db.query<Stored & { is_fresh: boolean | null }>(ONE, [organization, id]);
  if (!found) return undefined;
  const { is_fresh, ...row } = found;
  return { row: present(row), isFresh: is_fresh === true };
}

/** What a run has asked. */
export async function approvalsOfRun(db: Db, run: string): Promise<ApprovalRow[]> {
  const rows = await db.query<Stored>(select("where a.run_id = $1"), [run]);
  return rows.map(present);
}

/** A person who may decide, as approvals name people. */
export interface Approver {
  user_id: string;
  email: string;
  role: string;
}

const OF_ORGANIZATION = `where a.organization_id = $1 and ($2::text is null or a.status = $2)
  and ($3::text[] is null or ((a.assigned is null or a.assigned like any ($3)) and (a.self_approval or r.started_by <> $4)))`;

/** An organization's approvals, the oldest first; of a person where one is given: those that this one may decide. */
export async function listApprovals(
  db: Db,
  organization: string,
  { status, mine }: { status: ApprovalStatus | null; mine: Approver | null },
  { limit, offset }: { limit: number; offset: number },
): Promise<{ rows: ApprovalRow[]; total: number }> {
  const marks = mine && [{ person: mine.user_id }, { person: mine.email }, { role: mine.role }].map(assignedTo);
  const own = mine && encode({ type: "person", id: mine.user_id } satisfies Actor);
  const values = [organization, status, marks, own];
  const rows = await db.query<Stored>(select(OF_ORGANIZATION, "limit $5 offset $6"), [...values, limit, offset]);
  const [count] = await db.query<{ total: number }>(
    `select count(*)::integer as total ${FROM} ${OF_ORGANIZATION}`,
    values,
  );
  return { rows: rows.map(present), total: count!.total };
}
