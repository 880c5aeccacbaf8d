import { expect, test } from "vitest";
import type { RecordedRunEvent } from "./foldSteps.ts";
import { applyToWaits, endWaits, openWaits, type WaitsView } from "./foldWaits.ts";

/** Events of a run, a second apart: its waits, each with what ended it and when. */
function fold(...events: [type: string, data: object, personal?: object][]): WaitsView {
  const waits: WaitsView = new Map();
  events.forEach(([type, data, personal], n) =>
    applyToWaits(waits, { type, data, personal, recorded_at: new Date(n * 1_000) } as unknown as RecordedRunEvent),
  );
  return waits;
}
const UNTIL = "2026-01-01T00:00:00.000Z";
const approval = { key: "a", approval_id: "v1", expires_at: UNTIL };
const asked = ["ApprovalRequested", approval, { name: "boss" }] as [string, object, object];
const by = { type: "person", id: "p" };

test("an approval has its reminder, its escalation, its links, and who decided", () => {
  const waits = fold(
    asked,
    ["ApprovalReminded", approval],
    ["ApprovalLinkCreated", { approval_id: "v1" }],
    ["ApprovalLinkCreated", { approval_id: "other" }],
    ["ApprovalEscalated", approval],
    ["ApprovalDecided", { ...approval, decision: "reject", by }],
  );
  expect([...waits.values()]).toEqual([
    {
      type: "approval",
      key: "a",
      name: "boss",
      approval_id: "v1",
      run_id: null,
      since: new Date(0),
      until: new Date(UNTIL),
      ended_at: new Date(5_000),
      outcome: "rejected",
      decided_by: by,
      event_id: null,
      agent_id: null,
      turn_id: null,
      thread_id: null,
      reminded_at: new Date(1_000),
      escalated_at: new Date(4_000),
      links: 1,
    },
  ]);
});

test("each wait has what ended it; one that nothing ended is open until the run ends", () => {
  const waits = fold(
    asked,
    ["TimerStarted", { key: "t", fires_at: UNTIL }],
    ["RunWaitStarted", { key: "r", awaited_run_id: "other", expires_at: null }],
    ["MessageWaitStarted", { key: "m", expires_at: UNTIL }, { name: "paid" }],
    ["MessageWaitStarted", { key: "open", expires_at: null }, { name: "never" }],
    ["ApprovalCancelled", { ...approval, reason: "superseded" }],
    ["TimerFired", { key: "t" }],
    ["WaitTimedOut", { key: "r" }],
    ["WaitAnswered", { key: "m", message_id: "e1" }],
    ["WaitAnswered", { key: "not a wait" }],
  );
  expect(openWaits(waits)).toMatchObject([{ key: "open", type: "event", name: "never", until: null, outcome: null }]);
  endWaits(waits, new Date(60_000));
  expect([...waits.values()]).toMatchObject([
    { key: "a", outcome: "cancelled", ended_at: new Date(5_000) },
    { key: "t", outcome: "fired", ended_at: new Date(6_000) },
    { key: "r", run_id: "other", outcome: "timed_out", ended_at: new Date(7_000) },
    { key: "m", outcome: "answered", event_id: "e1", ended_at: new Date(8_000) },
    { key: "open", outcome: "run_ended", ended_at: new Date(60_000) },
  ]);
});
