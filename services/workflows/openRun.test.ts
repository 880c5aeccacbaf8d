import { beforeEach, describe, expect, test } from "vitest";
import type { NewEvent } from "#events/define.ts";
import { RunCancelled, RunForgotten, RunStarted, StepCompleted } from "#events/run.ts";
import {
  AT,
  CREATED,
  INLINE,
  keyOf,
  openMemoryLog,
  RUN_ID,
  scheduledAndBegun,
  STREAM,
} from "#test/doubles/runInMemory.ts";
import { fromLog, type OpenRun } from "./openRun.ts";
import { RunGone } from "./values.ts";

const [A, B] = [keyOf("a"), keyOf("b")];
const started = RunStarted.of({ run_id: RUN_ID, at: AT });
const completed = (key: string, json: string) =>
  StepCompleted.of(
    { run_id: RUN_ID, key, name: "work", attempt: 1, at: AT, duration_ms: 1, secrets: [] },
    { result: { json }, logs: [] },
  );
const cancelled = RunCancelled.of(
  { run_id: RUN_ID, slot: null, forget_at: AT, by: { type: "system", id: "test" } },
  { reason: null },
);

let log: ReturnType<typeof openMemoryLog>;
let run: OpenRun;
const target = { stream: STREAM, organization_id: "o1" };
beforeEach(async () => {
  log = openMemoryLog(CREATED);
  run = await fromLog(log.deps, target);
});
const known = () => run.history.memo.map(({ key, value }) => [key, "json" in value && value.json]);
/** As the handler tells of what this process has committed. */
function commit(command: string, ...events: NewEvent[]): void {
  log.add(...events);
  run.commit(command, { events, version: log.version() });
}

describe("what was foreseen", () => {
  beforeEach(() => run.foresee([started, ...scheduledAndBegun(A)], INLINE));

  test("is in the history and not recorded", () => {
    expect([run.recorded(), run.history.version, run.history.state.status]).toEqual([1, 4, "running"]);
  });
  test("is recorded once it was expected and committed, and is not folded in again", () => {
    run.expect(4);
    const { memo, state } = run.history;
    commit("AdvanceRun", started, ...scheduledAndBegun(A));
    expect([run.recorded(), run.isBehind()]).toEqual([4, false]);
    expect(run.history.memo).toBe(memo);
    expect(run.history.state).toBe(state);
  });
  test("is recorded up to where it was expected; what was foreseen since is not", () => {
    run.expect(4);
    run.foresee([completed(A, "1")], INLINE);
    commit("AdvanceRun", started, ...scheduledAndBegun(A));
    expect([run.recorded(), run.history.version, run.isBehind()]).toEqual([4, 5, false]);
  });
  test.each<[string, () => void]>([
    ["another command came first", () => commit("CancelRun", cancelled)],
    ["less was committed", () => commit("AdvanceRun", started)],
    ["it was not expected", () => commit("TakeRun", started, ...scheduledAndBegun(A))],
    [
      "it stands on what another process has committed",
      () => {
        log.add(cancelled);
        commit("AdvanceRun", started, ...scheduledAndBegun(A));
      },
    ],
  ])("has not come about where %s", (_, happen) => {
    run.expect(4);
    happen();
    expect([run.recorded(), run.isBehind()]).toEqual([1, true]);
  });
  test("is gone after the log was read anew, and another history begins", async () => {
    const { memo } = run.history;
    run.foresee([completed(A, "1")], INLINE);
    log.add(started, ...scheduledAndBegun(B), completed(B, "2"));
    await run.reload();
    expect([run.recorded(), run.history.version, run.isBehind()]).toEqual([5, 5, false]);
    expect(known()).toEqual([[B, "2"]]);
    expect(run.history.memo).not.toBe(memo);
    expect([...run.history.steps.keys()]).toEqual([B]);
  });
  test("is expected no more after that", async () => {
    run.expect(4);
    await run.reload();
    commit("AdvanceRun", started, ...scheduledAndBegun(A));
    expect([run.recorded(), run.history.version, run.history.steps.size]).toEqual([4, 4, 1]);
  });
});

describe("what this process commits", () => {
  test("is folded in where nothing is foreseen", () => {
    commit("TakeRun", started);
    expect([run.recorded(), run.history.state.status, run.isBehind()]).toEqual([2, "running", false]);
  });
  test("is passed over where it is known", async () => {
    log.add(started);
    await run.catchUp();
    run.commit("TakeRun", { events: [started], version: 2 });
    expect([run.recorded(), run.history.version, run.isBehind()]).toEqual([2, 2, false]);
  });
  test("is read where something before it is missing", () => {
    const [scheduled, begun] = scheduledAndBegun(A);
    log.add(started, scheduled);
    commit("AdvanceRun", begun);
    expect([run.recorded(), run.isBehind()]).toEqual([1, true]);
  });
  test("is read again where it comes while the log is read", async () => {
    log.add(started);
    const reading = run.catchUp();
    commit("CancelRun", cancelled);
    expect(run.isBehind()).toBe(true);
    await reading;
    expect([run.recorded(), run.history.state.status, run.isBehind()]).toEqual([3, "cancelled", false]);
  });
});

describe("a log that cannot be read", () => {
  test("leaves the run behind, and is read again", async () => {
    log.add(started);
    log.breaks(1);
    await expect(run.catchUp()).rejects.toThrow("away");
    expect([run.recorded(), run.isBehind()]).toEqual([1, true]);
    await run.catchUp();
    expect([run.recorded(), run.isBehind()]).toEqual([2, false]);
  });
  test("is read again from the beginning where what was foreseen was given up", async () => {
    run.foresee([started], INLINE);
    log.breaks(1);
    await expect(run.reload()).rejects.toThrow("away");
    expect(run.isBehind()).toBe(true);
    await run.reload();
    expect([run.recorded(), run.history.version, run.history.state.status]).toEqual([1, 1, "pending"]);
  });
});

test("a run that was destroyed is gone", async () => {
  log.add(cancelled, RunForgotten.of({ run_id: RUN_ID }));
  await expect(run.catchUp()).rejects.toThrow(RunGone);
  await expect(run.reload()).rejects.toThrow(RunGone);
});

test("a run from the log is what the log says", async () => {
  log.add(started, ...scheduledAndBegun(A), completed(A, "1"));
  const opened = await fromLog(log.deps, target);
  expect([opened.recorded(), opened.history.version, opened.isBehind()]).toEqual([5, 5, false]);
  await expect(fromLog({ ...log.deps, log: { read: () => Promise.resolve([]) } }, target)).rejects.toThrow(RunGone);
});
