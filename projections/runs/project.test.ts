import { describe, expect, test } from "vitest";
import {
  ApprovalCancelled,
  ApprovalDecided,
  ApprovalExpired,
  ApprovalRequested,
  RunCancelled,
  RunCompleted,
  RunFailed,
  RunForgotten,
  RunLogged,
  RunParked,
  RunStarted,
  StepCompleted,
  StepsScheduled,
} from "#events/run.ts";
import { MessageWaitStarted, WaitTimedOut } from "#events/runLinks.ts";
import { projectEvents, erased, ORGANIZATION, RECORDED_AT } from "#test/projections/projectEvents.ts";
import { runCreated } from "#test/samples.ts";
import { encodeAssignees, assigneePattern } from "./assignees.ts";
import { runs } from "./project.ts";

const id = "0198c0de-0000-7000-8000-00000000000a";
const approval_id = "0198c0de-0000-7000-8000-00000000000b";
const AT = "2026-01-02T03:04:04.000Z";
const key = "k".repeat(22);
const from = (...events: Parameters<typeof projectEvents>[2][]) => projectEvents(runs, `run-${id}`, ...events);
const patch = (row: object) => [{ table: "runs", kind: "patch", key: { id }, row }];
const patchApproval = (row: object) => [{ table: "approvals", kind: "patch", key: { id: approval_id }, row }];

const ids = { run_id: id };
const person = { type: "person" as const, id: "p1" };
const created = runCreated(
  {
    ...ids,
    definition_version: 2,
    project_id: "j1",
    trigger_id: "t1",
    started_by: { type: "webhook", id: "t1" },
    created_at: AT,
    expires_at: "2026-02-01T00:00:00.000Z",
  },
  { external_user_id: "\u0000" },
);
const end = { ...ids, slot: null, forget_at: AT };
const ofApproval = { ...ids, key, approval_id };
const requested = ApprovalRequested.of(
  {
    ...ofApproval,
    workflow_id: "w1",
    project_id: null,
    self_approval: false,
    allow_api_key: true,
    expires_at: AT,
    on_expiry: "return",
  },
  {
    name: "boss",
    title: "Pay?",
    body: null,
    form: { type: "object" },
    assignees: [{ person: "Ann@Example.org" }, { role: "admin\u0000" }],
  },
);

describe("the runs projection", () => {
  test("inserts a created run as pending without its arguments, and nothing if it was erased", () => {
    expect(from(created, erased(created))).toEqual([
      {
        table: "runs",
        kind: "put",
        key: { id },
        row: {
          organization_id: ORGANIZATION,
          position: 1,
          user_mark: null,
          workflow_id: "w1",
          definition_id: "d1",
          definition_version: 2,
          project_id: "j1",
          trigger_id: "t1",
          status: "pending",
          started_by: '{"type":"webhook","id":"t1"}',
          run_as: '{"type":"service","id":null}',
          external_user_id: '"\\u0000"',
          created_at: new Date(AT),
          expires_at: new Date("2026-02-01T00:00:00.000Z"),
        },
      },
    ]);
  });

  test("stores the step that a run continues from as it is, but without NUL characters, which PostgreSQL refuses", () => {
    const parent = {
      run_id: id,
      kind: "retry",
      by: person,
      seen_as: { run_id: id, created_at: AT },
      effects_of: id,
      steps: 1,
    } as const;
    const parentStep = (step: string | null) =>
      from({ ...created, data: { ...created.data, parent: { ...parent, step } } }).map(
        (change) => "row" in change && change.row["parent_step"],
      );
    expect(['pay "ü" 😀', "pay\0", null].map(parentStep)).toEqual([['pay "ü" 😀'], ["pay\u{fffd}"], [null]]);
  });

  test("counts the values of a run that are blobs until the run is destroyed, and no others", () => {
    const large = (bytes: number) => ({ blob: "b", bytes });
    const small = { json: "1" };
    const started = { ...created, personal: { ...created.personal, args: large(5), inherited: [large(7), small] } };
    const scheduled = StepsScheduled.of({ ...ids, concurrency: null, on_error: "fail", steps: [] }, { args: [small] });
    const step = { ...ids, key, name: "s", attempt: 1, duration_ms: 1, secrets: [] };
    const done = StepCompleted.of(step, { result: large(11), logs: [] });
    const changes = from(started, scheduled, done, erased(done), RunForgotten.of(ids));
    expect(changes.filter(({ table }) => table === "run_values")).toEqual([
      {
        table: "run_values",
        kind: "put",
        key: { run_id: id, position: 1 },
        row: { organization_id: ORGANIZATION, bytes: 12 },
      },
      {
        table: "run_values",
        kind: "put",
        key: { run_id: id, position: 3 },
        row: { organization_id: ORGANIZATION, bytes: 11 },
      },
      { table: "run_values", kind: "removeWhere", where: { run_id: id } },
    ]);
  });

  test("patches the status of a started run, and ignores its steps", () => {
    const scheduled = StepsScheduled.of({ ...ids, concurrency: null, on_error: "fail", steps: [] }, { args: [] });
    const step = { ...ids, key, name: "pay", attempt: 1, duration_ms: 1, secrets: [] };
    const done = StepCompleted.of(step, { result: { json: "1" }, logs: [] });
    expect(from(scheduled, done, RunParked.of(ids), RunLogged.of(ids, { logs: ["x"] }))).toEqual([]);
    expect(from(RunStarted.of(ids))).toEqual(patch({ status: "running", started_at: RECORDED_AT }));
  });

  test("stores the result, the error or the canceller of an ended run", () => {
    // it waits for no message any more
    const ending = (row: object) => [
      ...patch(row),
      { table: "message_waits", kind: "removeWhere", where: { run_id: id } },
    ];
    const completed = RunCompleted.of({ ...end, completion: "implicit" }, { result: { json: '"\\u0000"' } });
    const ended = { completed_at: RECORDED_AT };
    expect(from(completed)).toEqual(
      ending({ status: "completed", completion: "implicit", result: '{"json":"\\"\\\\u0000\\""}', ...ended }),
    );
    expect(from(erased(completed))).toMatchObject(ending({ status: "completed", result: null }));
    const failed = RunFailed.of(
      { ...end, code: "step_error", key, step: "pay" },
      { error: { message: "no", line: 1 } },
    );
    const error = JSON.stringify({ message: "no", code: "step_error", key, step: "pay" });
    expect(from(failed)).toEqual(ending({ status: "failed", error, ...ended }));
    expect(from(erased(failed))).toMatchObject(ending({ status: "failed", error: null }));
    expect(from(RunCancelled.of({ ...end, by: person }, { reason: "late" }))).toEqual(
      ending({ status: "cancelled", cancelled_by: JSON.stringify(person), ...ended }),
    );
  });

  test("has a row for each wait for a message while it waits", () => {
    const started = MessageWaitStarted.of(
      { ...ids, key, project_id: null, expires_at: null },
      { name: "paid", match: { order: 7 } },
    );
    const row = { project_id: null, name: '"paid"', match: '{"order":7}' };
    expect(from(started)).toMatchObject([{ table: "message_waits", kind: "put", key: { run_id: id, key }, row }]);
    const removed = [{ table: "message_waits", kind: "remove", key: { run_id: id, key } }];
    expect(from(WaitTimedOut.of({ ...ids, key }))).toEqual(removed);
  });

  test("removes a forgotten run with its values and approvals", () => {
    expect(from(RunForgotten.of(ids))).toEqual([
      { table: "runs", kind: "remove", key: { id } },
      { table: "run_values", kind: "removeWhere", where: { run_id: id } },
      { table: "approvals", kind: "removeWhere", where: { run_id: id } },
      { table: "approval_votes", kind: "removeWhere", where: { run_id: id } },
      { table: "approval_links", kind: "removeWhere", where: { run_id: id } },
      { table: "approval_delegations", kind: "removeWhere", where: { run_id: id } },
      { table: "approval_comments", kind: "removeWhere", where: { run_id: id } },
      { table: "approval_files", kind: "removeWhere", where: { run_id: id } },
    ]);
  });
});

describe("the runs projection of approvals", () => {
  test("inserts a requested approval as pending, and nothing if it was erased", () => {
    expect(from(requested, erased(requested))).toEqual([
      {
        table: "approvals",
        kind: "put",
        key: { id: approval_id },
        row: {
          run_id: id,
          workflow_id: "w1",
          organization_id: ORGANIZATION,
          project_id: null,
          version: 1,
          status: "pending",
          name: '"boss"',
          title: '"Pay?"',
          body: null,
          form: '{"type":"object"}',
          assignees: '[{"person":"Ann@Example.org"},{"role":"admin\\u0000"}]',
          assigned: expect.stringMatching(/^[0-9a-f-]{36} [0-9a-f-]{36}$/),
          self_approval: false,
          allow_api_key: true,
          expires_at: new Date(AT),
          created_at: RECORDED_AT,
        },
      },
    ]);
  });

  test("patches a decided, expired or cancelled approval", () => {
    const lease = { epoch: 1, worker: null };
    const decision = { ...ofApproval, ...lease, decision: "reject" as const, by: person, at: AT };
    const decided = ApprovalDecided.of(decision, { data: '{"a":"\\u0000"}', comment: "no\u0000" });
    const row = { status: "rejected", decision: "reject", decided_by_type: "person", decided_by_id: "p1" };
    expect(from(decided, erased(decided))).toEqual([
      ...patchApproval({ ...row, data: '{"a":"\\u0000"}', comment: '"no\\u0000"', decided_at: new Date(AT) }),
      ...patchApproval({ ...row, data: null, comment: null, decided_at: new Date(AT) }),
    ]);
    const approved = ApprovalDecided.of({ ...decision, decision: "approve" }, { data: null, comment: null });
    expect(from(approved)).toMatchObject(patchApproval({ status: "approved", decision: "approve" }));
    expect(
      from(
        ApprovalExpired.of({ ...ofApproval, at: AT }),
        ApprovalCancelled.of({ ...ofApproval, reason: "superseded" }),
      ),
    ).toEqual([...patchApproval({ status: "expired" }), ...patchApproval({ status: "cancelled" })]);
  });

  test("finds assignees by person, group or role, in upper or lower case", () => {
    const assigned = encodeAssignees([{ person: "Ann@Example.org" }, { role: "admin" }])!;
    const isLike = (pattern: string) => assigned.includes(pattern.slice(1, -1));
    expect(isLike(assigneePattern({ person: "ann@example.ORG" }))).toBe(true);
    expect(isLike(assigneePattern({ role: "admin" }))).toBe(true);
    expect(isLike(assigneePattern({ person: "admin" }))).toBe(false);
    expect(isLike(assigneePattern({ group: "admin" }))).toBe(false);
    expect(encodeAssignees([])).toBeNull();
  });
});
