import type { RecordedEvent } from "#events/envelope.ts";
import { eventTime, type RunEvent } from "#events/run.ts";
import { askerOf } from "#events/runOrigin.ts";
import {
  defineProjection,
  encode,
  patchRow,
  putRow,
  removeRow,
  removeRows,
  type Change,
  type Row,
} from "../projection.ts";
import { decideApproval, patchApproval, pendingRow } from "./approvalChanges.ts";
import { approvalLinks, markLinkUsed } from "./linkRows.ts";
import { putFiles } from "./approvalFiles.ts";
import { approvalPeople } from "./approvalPeople.ts";
import { encodeAssignees } from "./assignees.ts";
import { toolApprovals, type ToolApprovalEvent } from "./toolApprovals.ts";
import { putValues } from "./valueRows.ts";

type EventRecord<T extends RunEvent["type"]> = RecordedEvent<Extract<RunEvent, { type: T }>>;
const patch = (id: string, row: Row): Change[] => [patchRow("runs", id, row)];
const nothing = (): Change[] => [];
const OF_APPROVALS = [
  "approvals",
  "approval_votes",
  "approval_links",
  "approval_delegations",
  "approval_comments",
  "approval_files",
];

/** This column has no JSON text, but an author may name a step with a NUL character, which PostgreSQL refuses. */
const withoutNul = (name: string | null): string | null => name?.replaceAll("\0", "\u{fffd}") ?? null;

function applyCreation(event: EventRecord<"RunCreated">): Change[] {
  const { organization_id, position, data, personal } = event;
  if (!personal) return [];
  const {
    workflow_id,
    definition_id,
    definition_version,
    project_id,
    trigger_id,
    started_by,
    run_as,
    parent,
    starter,
    continued_from,
    user_mark = null,
  } = data;
  return [
    putRow("runs", data.run_id, {
      organization_id,
      position,
      workflow_id,
      definition_id,
      definition_version,
      project_id,
      trigger_id,
      status: "pending",
      started_by: encode(started_by),
      run_as: encode(run_as),
      external_user_id: encode(personal.external_user_id),
      user_mark,
      created_at: new Date(data.created_at),
      expires_at: new Date(data.expires_at),
      ...(starter && { starter_id: starter.run_id }),
      ...((starter ?? data.trigger_set_by) && { asked_by: encode(askerOf(data)) }),
      ...(parent && { parent_id: parent.run_id, parent_kind: parent.kind, parent_step: withoutNul(parent.step) }),
      ...(continued_from && {
        parent_id: continued_from.run_id,
        parent_kind: "continued",
        first_run_id: continued_from.first_run_id,
        chain_nth: continued_from.nth,
      }),
    }),
    ...putValues(event, [personal.args, ...(personal.inherited ?? [])]),
  ];
}

function applyRequest(event: EventRecord<"ApprovalRequested">): Change[] {
  const { data, personal } = event;
  if (!personal) return [];
  const { run_id, workflow_id, votes } = data;
  return [
    putRow("approvals", data.approval_id, {
      ...pendingRow(event, personal.assignees),
      run_id,
      workflow_id,
      name: encode(personal.name),
      title: encode(personal.title),
      body: encode(personal.body),
      form: encode(personal.form),
      ...(personal.escalate_to && {
        escalate_to: encode(personal.escalate_to),
        escalate_assigned: encodeAssignees(personal.escalate_to),
      }),
      ...(personal.attachments && { attachments: encode(personal.attachments) }),
      ...(votes && { required: votes.required, one_rejection_ends: votes.one_rejection_ends }),
    }),
  ];
}

const putVote = ({ organization_id, version, data, personal }: EventRecord<"ApprovalVoted">): Change[] => [
  putRow(
    "approval_votes",
    { approval_id: data.approval_id, by_type: data.by.type, by_id: data.by.id },
    {
      run_id: data.run_id,
      organization_id,
      version,
      ...(data.in_place_of && { for_id: data.in_place_of }),
      decision: data.decision,
      data: personal?.data ?? null,
      comment: encode(personal?.comment),
      at: new Date(data.at),
    },
  ),
];

/** The data is JSON already, which contains no NUL character. */
const applyDecision = (event: EventRecord<"ApprovalDecided">): Change[] =>
  decideApproval(event, { data: event.personal?.data ?? null });

function applyMessageWait(event: EventRecord<"MessageWaitStarted">): Change[] {
  const { organization_id, position, data, personal } = event;
  if (!personal) return [];
  const { run_id, key, project_id } = data;
  const { name, match } = personal;
  const row = { organization_id, project_id, name: encode(name), match: encode(match), position };
  return [putRow("message_waits", { run_id, key }, row)];
}

const endMessageWait = ({ data: { run_id, key } }: { data: { run_id: string; key: string } }): Change[] => [
  removeRow("message_waits", { run_id, key }),
];

/** An ended run no longer waits for messages. */
const endRun = (run_id: string, row: Row): Change[] => [...patch(run_id, row), removeRows("message_waits", { run_id })];

/** Runs, their approvals and those of agents' tool calls. Steps have no rows, because they are read from the run's stream (ADR 11). */
export const runs = defineProjection<RunEvent | ToolApprovalEvent>({
  name: "runs",
  version: 15,
  tables: new URL("table.sql", import.meta.url),
  on: {
    ...toolApprovals,
    RunCreated: applyCreation,
    RunStarted: (event) => patch(event.data.run_id, { status: "running", started_at: eventTime(event) }),
    RunTaken: nothing,
    StepsScheduled: (event) => putValues(event, event.personal?.args),
    StepStarted: nothing,
    StepCompleted: (event) => putValues(event, [event.personal?.result]),
    StepAttemptFailed: nothing,
    StepAttemptLost: nothing,
    StepFailed: nothing,
    TimerStarted: nothing,
    TimerFired: nothing,
    ValueNoted: nothing,
    ApprovalRequested: applyRequest,
    ApprovalVoted: (event) => [...putVote(event), ...putFiles(event), ...markLinkUsed(event)],
    ...approvalLinks,
    ...approvalPeople,
    ApprovalDecided: (event) => [...applyDecision(event), ...putFiles(event), ...markLinkUsed(event)],
    ApprovalReminded: ({ data }) => patchApproval(data.approval_id, { reminded_at: new Date(data.at) }),
    ApprovalEscalated: ({ data }) => patchApproval(data.approval_id, { escalated_at: new Date(data.at) }),
    ApprovalExpired: ({ data }) => patchApproval(data.approval_id, { status: "expired" }),
    ApprovalCancelled: ({ data }) => patchApproval(data.approval_id, { status: "cancelled" }),
    RunWarned: nothing,
    RunLogged: nothing,
    RunParked: nothing,
    ChildRunRequested: (event) => putValues(event, [event.personal?.args]),
    ChildRunStarted: nothing,
    RunWaitStarted: nothing,
    MessageWaitStarted: applyMessageWait,
    RunWaitRegistered: nothing,
    AgentTurnRequested: (event) => putValues(event, [event.personal?.request]),
    AgentTurnStarted: nothing,
    AgentTurnPending: nothing,
    WaitAnswered: (event) => [...endMessageWait(event), ...putValues(event, [event.personal?.answer])],
    WaitTimedOut: endMessageWait,
    RunWatched: nothing,
    RunSettled: nothing,
    RunCompleted: (event) => {
      const { data, personal, recorded_at } = event;
      const { run_id, completion } = data;
      const row = { status: "completed", completion, result: encode(personal?.result), completed_at: recorded_at };
      return [...endRun(run_id, row), ...putValues(event, [personal?.result])];
    },
    RunFailed: ({ data: { run_id, code, key, step }, personal, recorded_at }) =>
      endRun(run_id, {
        status: "failed",
        error: personal ? encode({ message: personal.error.message, code, key, step }) : null,
        completed_at: recorded_at,
      }),
    RunCancelled: ({ data, recorded_at }) =>
      endRun(data.run_id, { status: "cancelled", cancelled_by: encode(data.by), completed_at: recorded_at }),
    RunContinued: ({ data: { run_id, continued_as, first_run_id }, recorded_at }) =>
      endRun(run_id, { status: "continued", continued_as, first_run_id, completed_at: recorded_at }),
    RunKept: nothing,
    RunForgotten: ({ data: { run_id } }) => [
      removeRow("runs", run_id),
      removeRows("run_values", { run_id }),
      ...OF_APPROVALS.map((table): Change => removeRows(table, { run_id })),
    ],
  },
});
