import { expect, test } from "vitest";
import type { NewEvent } from "#events/define.ts";
import type { RecordedEvent } from "#events/envelope.ts";
import type { InheritedCall } from "#events/inheritedCalls.ts";
import {
  ApprovalDecided,
  ApprovalExpired,
  ApprovalRequested,
  StepCompleted,
  TimerFired,
  TimerStarted,
} from "#events/run.ts";
import { MessageWaitStarted, WaitTimedOut } from "#events/runLinks.ts";
import { AT, CREATED, keyOf, RUN_ID, scheduledAndBegun } from "#test/doubles/runInMemory.ts";
import { foldCalls } from "./foldCalls.ts";
import { inheritedByFork } from "./inheritedByFork.ts";

/* What a fork inherits from a run in which an answer of time came after the answer of a call that the fork makes again. */

const [STEP, TIMER, BOSS, EVENT] = [keyOf("s"), keyOf("t"), keyOf("b"), keyOf("e")];
const completed = StepCompleted.of(
  { run_id: RUN_ID, key: STEP, name: "work", attempt: 1, at: AT, duration_ms: 1, secrets: [] },
  { result: { json: "1" }, logs: [] },
);
const timer = TimerStarted.of({ run_id: RUN_ID, key: TIMER, fires_at: AT });
const fired = TimerFired.of({ run_id: RUN_ID, key: TIMER });
const waits = MessageWaitStarted.of(
  { run_id: RUN_ID, key: EVENT, project_id: null, expires_at: AT },
  { name: "paid", match: {} },
);
const timedOut = WaitTimedOut.of({ run_id: RUN_ID, key: EVENT });
const about = { run_id: RUN_ID, approval_id: RUN_ID, key: BOSS };
const terms = { self_approval: true, allow_api_key: true, expires_at: AT, on_expiry: "return" as const };
const asked = ApprovalRequested.of(
  { ...about, ...terms, workflow_id: RUN_ID, project_id: null },
  { name: "boss", title: "Go?", body: null, form: null, assignees: [] },
);
const by = { type: "person" as const, id: "p" };
const decided = ApprovalDecided.of(
  { ...about, epoch: 1, worker: "w1", decision: "approve", by, at: AT },
  { data: null, comment: null },
);

async function inherited(events: NewEvent[], from: string | null, changes: { result?: string; isChanged?: boolean }) {
  const recorded = [CREATED, ...events].map((event, n) => ({ ...event, version: n + 1, recorded_at: new Date(AT) }));
  const calls = await foldCalls(recorded as unknown as RecordedEvent[], []);
  const at = from === null ? calls.length : calls.findIndex(({ key }) => key === from);
  const kept = inheritedByFork(calls, at, { result: undefined, isChanged: false, ...changes });
  return kept.map(({ key, answer }) => [key, answer && "json" in answer ? answer.json : undefined]);
}

test("a step that won a race against a timer is not beaten by it when it is executed again", async () => {
  const race = [timer, waits, ...scheduledAndBegun(STEP), completed, fired, timedOut];
  expect(await inherited(race, STEP, {})).toEqual([]);
  // with a new result it wins again
  expect(await inherited(race, STEP, { result: "2", isChanged: true })).toEqual([
    [TIMER, "null"],
    [EVENT, '{"status":"timed_out"}'],
    [STEP, "2"],
  ]);
});

test("nor is a step of a run that inherited both from its own parent", async () => {
  const answered = { name: null, batch: null, index: null, args: null, answered_at: AT };
  const forkOf = async (nthOfTimer: number, nthOfStep: number) => {
    const own: InheritedCall[] = [
      { ...answered, kind: "timer", key: TIMER, answer: { json: "null" }, nth_answer: nthOfTimer },
      { ...answered, kind: "step", key: STEP, answer: { json: "1" }, nth_answer: nthOfStep },
    ];
    const kept = inheritedByFork(await foldCalls([], own), 1, { result: undefined, isChanged: false });
    return kept.map(({ key }) => key);
  };
  expect(await forkOf(2, 1)).toEqual([]);
  expect(await forkOf(1, 2)).toEqual([TIMER]);
});

test("nor by an approval that expired after it", async () => {
  const race = [asked, ...scheduledAndBegun(STEP), completed];
  const expired = ApprovalExpired.of({ ...about, at: AT });
  expect(await inherited([...race, expired], STEP, {})).toEqual([]);
  expect(await inherited([...race, decided], STEP, {})).toEqual([[BOSS, expect.stringContaining('"approved":true')]]);
});

test("a timer that came first stays the winner", async () => {
  const race = [timer, ...scheduledAndBegun(STEP), fired, completed];
  expect(await inherited(race, STEP, {})).toEqual([[TIMER, "null"]]);
});

test("an approval that is asked for again is not beaten by a timer that fired after its decision", async () => {
  const race = [asked, timer, decided, fired];
  expect(await inherited(race, null, { isChanged: true })).toEqual([]);
  expect(await inherited(race, null, {})).toEqual([
    [BOSS, expect.stringContaining('"approved":true')],
    [TIMER, "null"],
  ]);
});

test("a timer that began after the decision has passed also in a fork with changes", async () => {
  expect(await inherited([asked, decided, timer, fired], null, { isChanged: true })).toEqual([[TIMER, "null"]]);
});

test("answers that the run inherited itself are not parsed, because they may be long", async () => {
  const answer = { json: "not parsed" };
  const long = { kind: "runWait", key: EVENT, name: null, args: null, answer, answered_at: AT } as never;
  const recorded = [CREATED, ...scheduledAndBegun(STEP), completed].map((event, n) => ({ ...event, version: n + 1 }));
  const events = recorded.map((event) => ({ ...event, recorded_at: new Date(AT) })) as unknown as RecordedEvent[];
  const calls = await foldCalls(events, [long]);
  const at = calls.findIndex(({ key }) => key === STEP);
  expect(inheritedByFork(calls, at, { result: undefined, isChanged: false })).toMatchObject([{ key: EVENT, answer }]);
});
