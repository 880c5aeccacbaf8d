import { streamName } from "#events/ids.ts";
import type { Actor } from "#events/runOrigin.ts";
import { runScope } from "#events/scope.ts";
import { listFilesIn } from "#projections/files/query.ts";
import type { OwnedPage } from "#projections/owner.ts";
import { listComments } from "#projections/runs/approvalPeople.ts";
import { listDecidedBy, listRunApprovals, type ApprovalRow, type DecidedPlace } from "#projections/runs/approvals.ts";
import { listOwnedRunIds, type RunOwner } from "#projections/runs/ownedRuns.ts";
import { getRun, type RunRow } from "#projections/runs/query.ts";
import { listRunThreads } from "#projections/turns/threads.ts";
import { readInTurn } from "../base/longReads.ts";
import { presentApproval } from "../workflows/approvalShape.ts";
import { foldRun } from "../workflows/foldRun.ts";
import { presentRun } from "../workflows/runShape.ts";
import { createOpenValue } from "../workflows/runValues.ts";
import {
  allTurnLines,
  fileLines,
  ROWS_PER_QUERY,
  readRows,
  type ExportLine,
  type ExportScope,
  type ExportLines,
} from "./exportLines.ts";

/** Run ids per query, each of which scans all runs. */
const IDS = 2_000;

/** Reads a run, with one of the organization's places for long reads: a run may have a hundred megabytes. */
const runLine = ({ http, organization_id }: ExportScope, row: RunRow): Promise<ExportLine> =>
  readInTurn(http, organization_id, async () => {
    const events = (await Array.fromAsync(http.streamPages(streamName("run", row.id)), (page) => page.events)).flat();
    return { ...(await presentRun(row, await foldRun(events), createOpenValue(http, row))), type: "run" };
  });

/** Yields an approval with its comments, unless it was sent before. */
async function* wholeApprovalLines({ http, sent }: ExportScope, row: ApprovalRow): ExportLines {
  if (sent.has(row.id)) return;
  sent.add(row.id);
  yield { ...presentApproval(row, null), type: "approval" };
  const comments = row.comment_count > 0 ? await listComments(http.db, row.id) : [];
  for (const comment of comments) yield { type: "comment", approval_id: row.id, ...comment };
}

/** Yields a run with its approvals, the turns that its steps requested, and the files that they saved. */
async function* wholeRunLines(scope: ExportScope, row: RunRow): ExportLines {
  const { http, organization_id } = scope;
  yield await runLine(scope, row);
  for (let offset = 0; ; offset += ROWS_PER_QUERY) {
    const { rows, total } = await listRunApprovals(http.db, row.id, { limit: ROWS_PER_QUERY, offset });
    for (const approval of rows) yield* wholeApprovalLines(scope, approval);
    if (offset + ROWS_PER_QUERY >= total) break;
  }
  const own = runScope(row.id);
  for (const id of await listRunThreads(http.db, organization_id, row.id))
    yield* allTurnLines(scope, { id, scope: own, agent_id: null });
  const files = (page: OwnedPage) => listFilesIn(http.db, organization_id, [own], page);
  for await (const file of readRows(scope, files)) yield* fileLines(scope, file, { run_id: row.id });
}

/** The runs that an erasure of the subject would delete. */
export async function* runLines(scope: ExportScope): ExportLines {
  const { http, organization_id, subject, until, recheck } = scope;
  const owner: RunOwner =
    subject.kind === "user"
      ? { user_mark: subject.user_mark, run_ids: subject.run_ids }
      : { started_by: subject.actor };
  for (let after: number | null = null; ; ) {
    const query = { organization: organization_id, owner, before: until + 1 };
    const found: { id: string; position: number }[] = await listOwnedRunIds(http.db, query, { after, limit: IDS });
    for (const { id } of found) {
      await recheck();
      const row = await getRun(http.db, organization_id, id);
      if (row) yield* wholeRunLines(scope, row);
    }
    if (found.length < IDS) return;
    after = found.at(-1)!.position;
  }
}

/** Removes the arguments of a call unless the exported person prompted the agent, because they may quote another person. */
const withoutOthersWords = (row: ApprovalRow, { type, id }: Pick<Actor, "type" | "id">): ApprovalRow =>
  row.call && !(row.asked_by.type === type && row.asked_by.id === id)
    ? { ...row, call: { ...row.call, arguments: null } }
    : row;

/** Yields what the subject decided or voted on in runs and chats of others. */
export async function* approvalLines({ http, organization_id, subject, recheck, sent }: ExportScope): ExportLines {
  if (subject.kind === "user") return;
  for (let after: DecidedPlace | null = null; ; ) {
    await recheck();
    const page = { after, limit: ROWS_PER_QUERY };
    const rows: ApprovalRow[] = await listDecidedBy(http.db, organization_id, subject.actor, page);
    for (const row of rows.filter(({ id }) => !sent.has(id)))
      yield { ...presentApproval(withoutOthersWords(row, subject.actor), null), type: "approval" };
    if (rows.length < ROWS_PER_QUERY) return;
    after = rows.at(-1)!;
  }
}
