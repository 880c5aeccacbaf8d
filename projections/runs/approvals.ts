import { isUuid } from "#events/ids.ts";
import type { Actor } from "#events/runOrigin.ts";
import { APPROVERS } from "#events/user.ts";
import { countRows } from "../countRows.ts";
import { queryPage, type Page, type PageRows } from "../page.ts";
import { encode, type Db } from "../projection.ts";
import { parseRow, type ApprovalRow, type ApprovalStatus, type StoredRow } from "./approvalRows.ts";
import { handedFiles, listedFiles } from "./approvalFiles.ts";
import { assigneePattern } from "./assignees.ts";

export type { ApprovalRow } from "./approvalRows.ts";

const FROM = `from read.approvals a left join read.runs r on r.id = a.run_id
  left join read.workflows w on w.id = a.workflow_id and w.organization_id = a.organization_id`;
const RULES = "w.envelope::json -> 'approvals'";
/** Who asked the agent, or is behind the run. */
const ASKED_BY = "coalesce(a.asked_by, r.asked_by, r.started_by)";
const STREAM = "coalesce('run-' || run_id, 'thread-' || thread_id)";
const VOTES = `select json_agg(json_build_object('type', v.by_type, 'id', v.by_id, 'name', coalesce(vu.name, vy.name, vl.name),
      'link_by', vl.created_by_id, 'for_id', v.for_id, 'for_name', vf.name,
      'decision', v.decision, 'data', v.data, 'comment', v.comment, 'files', (${handedFiles("o.version = v.version")}), 'at', v.at) order by v.version)
    from read.approval_votes v
    left join read.users vu on vu.id = case when v.by_type = 'person' then v.by_id::uuid end
    left join read.keys vy on vy.id = case when v.by_type = 'api_key' then v.by_id::uuid end
    left join read.approval_links vl on vl.id = case when v.by_type = 'link' then v.by_id::uuid end
    left join read.users vf on vf.id = v.for_id
    where v.approval_id = a.id and v.organization_id = a.organization_id`;
const voteWhere = (condition: string): string => `exists (select from read.approval_votes v
      left join read.approval_links vl on vl.id = case when v.by_type = 'link' then v.by_id::uuid end
      where v.approval_id = a.id and v.organization_id = a.organization_id and ${condition})`;
const isCastBy = (id: string): string =>
  `(vl.created_by_id = ${id} or (v.by_type = 'person' and v.by_id = ${id}::text))`;
/** SQL: whether a person has voted, or their link or their substitute for them. */
const hasVoted = (id: string): string => voteWhere(`(v.for_id = ${id} or ${isCastBy(id)})`);
/** SQL: the same, without what the person has cast as a substitute. */
const isOwnVoteCast = (id: string): string => voteWhere(`(v.for_id = ${id} or (v.for_id is null and ${isCastBy(id)}))`);
/** SQL: whether a delegation is over, because the person who delegated has voted or delegated again since. */
const hasEnded = (one: string): string => `coalesce((select n.by_id = ${one}.by_id from read.approval_delegations n
        where n.approval_id = ${one}.approval_id and n.version > ${one}.version and ${one}.by_id in (n.by_id, n.to_id)
        order by n.version limit 1), ${isOwnVoteCast(`${one}.by_id`)})`;
const mayDecide = (user: string): string =>
  `coalesce(${user}.active and ${user}.role in (${APPROVERS.map((role) => `'${role}'`).join(", ")}), false)`;
/** SQL: whether the delegation has ended, or an earlier one through which the delegating person had received the vote. */
const HAS_LOST = `exists (with recursive source as (
          select d.approval_id, d.version, d.by_id
          union all
          select e.approval_id, e.version, e.by_id from source x cross join lateral (
            select o.approval_id, o.version, o.by_id from read.approval_delegations o
            where o.approval_id = x.approval_id and o.to_id = x.by_id and o.version < x.version
            order by o.version desc limit 1) e)
        select from source x where ${hasEnded("x")})`;
/**
 * SQL: whether a delegation has an effect: a delegate may decide now, or has voted. Delegates may have left, may have another role by
 * now, or may have delegated it further (`passed`). After a person receives a newer delegation, their own delegations pass that one on.
 */
const HAS_EFFECT = `(${hasVoted("d.to_id")} or (not ${HAS_LOST} and exists (with recursive passed as (
          select d.approval_id, d.version, d.by_id, d.to_id
          union all
          select m.approval_id, m.version, m.by_id, m.to_id from passed x join read.approval_delegations m
            on m.approval_id = x.approval_id and m.version > x.version and m.by_id = x.to_id
          where not ${hasEnded("x")} and not exists (select from read.approval_delegations o
            where o.approval_id = x.approval_id and o.to_id = x.to_id and o.version > x.version and o.version < m.version))
        select from passed x left join read.users xt on xt.id = x.to_id
        where (${mayDecide("xt")} and not ${hasEnded("x")}) or ${hasVoted("x.to_id")})))`;
const DELEGATIONS = `select json_agg(json_build_object('by', d.by_id, 'by_name', db.name, 'to', d.to_id, 'to_name', dt.name,
      'reason', d.reason, 'at', d.at, 'present', ${mayDecide("dt")}, 'has_effect', ${HAS_EFFECT}) order by d.version)
    from read.approval_delegations d left join read.users db on db.id = d.by_id left join read.users dt on dt.id = d.to_id
    where d.approval_id = a.id`;
const COLUMNS = `a.id, a.run_id, a.workflow_id, a.project_id, a.status, a.name, a.title, a.body, a.form, a.assignees, a.escalate_to, a.reminded_at, a.escalated_at,
    a.self_approval, a.allow_api_key, a.decision, a.data, a.comment, a.decided_by_type, a.decided_by_id,
    coalesce(u.name, y.name, l.name) as decided_by_name, a.decided_at, a.expires_at, a.created_at, a.asker as asked_by, a.rules,
    a.turn_id, a.thread_id, a.agent_id, g.name as agent_name, a.call, c.calls, coalesce(ku.name, ky.name) as asker_name,
    coalesce(a.required, 1) as required, coalesce(a.one_rejection_ends, true) as one_rejection_ends,
    case when a.required is null then null else (${VOTES}) end as votes,
    a.decided_for as decided_for_id, f.name as decided_for_name, (${DELEGATIONS}) as delegations,
    case when a.attachments is null then null else (${listedFiles("a.attachments")}) end as attachments,
    (${handedFiles("o.decides")}) as files,
    (select count(*)::integer from read.approval_comments m where m.approval_id = a.id) as comment_count`;
const idOf = (kind: Actor["type"]): string =>
  `case when a.asker::json ->> 'type' = '${kind}' then (a.asker::json ->> 'id')::uuid end`;
const JOINED = `join log.keys k on k.thing = coalesce('run-' || a.run_id, 'turn-' || a.turn_id)
  left join read.agents g on g.id = a.agent_id
  left join read.turn_rounds c on c.turn_id = a.turn_id and c.round = a.round
  left join read.users ku on ku.id = ${idOf("person")}
  left join read.keys ky on ky.id = ${idOf("api_key")}
  left join read.users u on u.id = case when a.decided_by_type = 'person' then a.decided_by_id::uuid end
  left join read.users f on f.id = a.decided_for
  left join read.keys y on y.id = case when a.decided_by_type = 'api_key' then a.decided_by_id::uuid end
  left join read.approval_links l on l.id = case when a.decided_by_type = 'link' then a.decided_by_id::uuid end`;
/** Pending approvals with a reminder come first, then the oldest. The page is cut before the joins. */
const ORDER =
  "order by case when a.status = 'pending' then coalesce(a.reminded_at, a.escalated_at) end, a.created_at, a.version, a.id";
/** Orders of the list. `urgent`: with ORDER. */
export const APPROVAL_ORDERS = ["urgent", "oldest", "newest"] as const;
export type ApprovalOrder = (typeof APPROVAL_ORDERS)[number];
const ORDERS: Record<ApprovalOrder, string> = {
  urgent: ORDER,
  oldest: "order by a.created_at, a.version, a.id",
  newest: "order by a.created_at desc, a.version desc, a.id desc",
};
const select = (which: string, page = "", order = ORDER): string =>
  `select ${COLUMNS} from (select a.*, ${ASKED_BY} as asker, ${RULES} as rules ${FROM} ${which} ${order} ${page}) a ${JOINED} ${order}`;

const ONE = `select one.*, (select s.position <= c.position from log.streams s, log.checkpoints c
    where s.stream = ${STREAM} and c.name = 'runs') as is_fresh
  from (${select("where a.id = $2 and a.organization_id = $1")}) one`;

/** `isFresh`: the row includes all events of its run that are currently in the log. */
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

export async function listRunApprovals(db: Db, run: string, { limit, offset }: Page): Promise<PageRows<ApprovalRow>> {
  const ofRun = "where a.run_id = $1";
  const rows = await queryPage<StoredRow>(db, select(ofRun, "limit $2 offset $3"), [run, limit, offset]);
  return { rows: rows.map(parseRow), total: await countRows(db, `from read.approvals a ${ofRun}`, [run]) };
}

/** All approvals of a turn's calls. */
export async function listTurnApprovals(db: Db, thread: string, turn: string): Promise<ApprovalRow[]> {
  const rows = await db.query<StoredRow>(select("where a.thread_id = $1 and a.turn_id = $2"), [thread, turn]);
  return rows.map(parseRow);
}

/** Some threads in which a turn of an agent waits for a person. */
export async function listParkedThreads(db: Db, organization: string, agent: string): Promise<string[]> {
  const rows = await db.query<{ thread_id: string }>(
    `select distinct thread_id from read.approvals
     where agent_id = $2 and organization_id = $1 and status = 'pending' limit 100`,
    [organization, agent],
  );
  return rows.map(({ thread_id }) => thread_id);
}

/** A person, with everything by which assignees can be named. */
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
const actorText = (user_id: string): string | null => encode({ type: "person", id: user_id } satisfies Actor);

const mayAskerDecide = `(a.self_approval and coalesce((${RULES} ->> 'self_approval')::boolean, true))`;
/** SQL: whether a person is assigned. The last delegation that names the person and has an effect decides; without one, the assignees do. */
const IS_ASSIGNED = `coalesce(
      (select d.to_id = p.id from read.approval_delegations d
        where d.approval_id = a.id and p.id in (d.by_id, d.to_id) and ${HAS_EFFECT} order by d.version desc limit 1),
      a.assigned is null or a.assigned like any (p.patterns)
        or (a.escalated_at is not null and a.escalate_assigned like any (p.patterns)))`;
/** SQL: ids of the approvals of organization $1 that somebody decided or voted on. `type` and `id`: their parameters. */
const decidedBy = (type: string, id: string): string =>
  `select id from read.approvals where organization_id = $1 and decided_by_type = ${type} and decided_by_id = ${id}
    union all
    select approval_id from read.approval_votes where organization_id = $1 and by_type = ${type} and by_id = ${id}`;
/** SQL conditions. $3: the reader, and the people whose substitute the reader is. Whatever excludes the reader also excludes them as a substitute. */
const OF_ORGANIZATION = `where a.organization_id = $1 and ($2::text is null or a.status = $2)
  and ($3::jsonb is null or ((${ASKED_BY} <> $4 or ${mayAskerDecide}) and not (a.status = 'pending' and ${hasVoted("$5::uuid")})
    and exists (select from jsonb_to_recordset($3::jsonb) p (id uuid, own text, patterns text[])
      where ${IS_ASSIGNED} and (${ASKED_BY} <> p.own or ${mayAskerDecide}) and not (a.status = 'pending' and ${hasVoted("p.id")}))))
  and ($6 or a.turn_id is null or a.asked_by = $7) and ($8::text is null or a.id in (${decidedBy("$8", "$9")}))`;

interface ApprovalFilter {
  status: ApprovalStatus | null;
  /** Only approvals that this person may decide, also as a substitute, and has not voted on. */
  mine: { self: Approver; in_place_of: Approver[] } | null;
  /** The reader. Tool calls of agents that somebody else asked are left out unless `readsAll`. */
  reader: Actor;
  readsAll: boolean;
  /** Only approvals that this person or key decided or voted on. */
  decided_by: Pick<Actor, "type" | "id"> | null;
  order: ApprovalOrder;
}

/** An organization's approvals. */
export async function listApprovals(
  db: Db,
  organization: string,
  { status, mine, reader, readsAll, decided_by, order }: ApprovalFilter,
  { limit, offset }: Page,
): Promise<PageRows<ApprovalRow>> {
  const approvers =
    mine &&
    [mine.self, ...mine.in_place_of].map((approver) => ({
      id: approver.user_id,
      own: actorText(approver.user_id),
      patterns: namesOf(approver).map(assigneePattern),
    }));
  const self = mine?.self.user_id ?? null;
  const own = self && actorText(self);
  const people = [approvers && JSON.stringify(approvers), own, self, readsAll, encode(reader)];
  const values = [organization, status, ...people, decided_by?.type ?? null, decided_by?.id ?? null];
  const page = select(OF_ORGANIZATION, "limit $10 offset $11", ORDERS[order]);
  const rows = await queryPage<StoredRow>(db, page, [...values, limit, offset]);
  return { rows: rows.map(parseRow), total: await countRows(db, `${FROM} ${OF_ORGANIZATION}`, values) };
}

const DECIDED_BY = `where a.organization_id = $1 and a.id in (${decidedBy("$2", "$3")})
  and ($4::timestamptz is null or (a.created_at, a.id) > ($4, $5::uuid))`;

/** The place of an approval in the list below. It stays valid after the approval was deleted. */
export type DecidedPlace = Pick<ApprovalRow, "created_at" | "id">;

/** The approvals that a person or a key decided or voted on, oldest first, after the given place. */
export async function listDecidedBy(
  db: Db,
  organization: string,
  by: Pick<Actor, "type" | "id">,
  { after, limit }: { after: DecidedPlace | null; limit: number },
): Promise<ApprovalRow[]> {
  // the order of the inbox puts reminded approvals first, so a place would skip the others
  const rows = await db.query<StoredRow>(select(DECIDED_BY, "limit $6", "order by a.created_at, a.id"), [
    organization,
    by.type,
    by.id,
    after?.created_at ?? null,
    after?.id ?? null,
    limit,
  ]);
  return rows.map(parseRow);
}
