import { beforeEach, describe, expect, test } from "vitest";
import type { NewEvent } from "#events/define.ts";
import { RunCancelled, RunForgotten, RunStarted, StepCompleted } from "#events/run.ts";
import { longestTurn } from "#test/computingTime.ts";
import {
  AT,
  CREATED,
  INLINE,
  keyOf,
  manyAttempts,
  openMemoryLog,
  RUN_ID,
  scheduledAndBegun,
  STREAM,
} from "#test/doubles/runInMemory.ts";
import { sizeOfRun } from "./history.ts";
import { fromLog, type OpenRun } from "./openRun.ts";
import { NoRoom } from "./runMemory.ts";
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
const memoEntries = () => run.history.memo.map(({ key, value }) => [key, "json" in value && value.json]);
/** Reports a commit of this process, as the handler does. */
function commit(command: string, ...events: NewEvent[]): void {
  log.add(...events);
  run.commit(command, { events, version: log.version() });
}

describe("An optimistic event", () => {
  beforeEach(() => run.applyOptimistically([started, ...scheduledAndBegun(A)], INLINE));

  test("is in the history, but not recorded", () => {
    expect([run.recorded(), run.history.version, run.history.state.status]).toEqual([1, 4, "running"]);
  });
  test("is recorded by the commit that was expected, and is not folded again", () => {
    run.expectCommit(4);
    const { memo, state } = run.history;
    commit("AdvanceRun", started, ...scheduledAndBegun(A));
    expect([run.recorded(), run.isBehind()]).toEqual([4, false]);
    expect(run.history.memo).toBe(memo);
    expect(run.history.state).toBe(state);
  });
  test("is followed by what the same commit decided after it", () => {
    run.expectCommit(4);
    commit("AdvanceRun", started, ...scheduledAndBegun(A), completed(A, "1"));
    expect([run.recorded(), run.history.version, run.isBehind()]).toEqual([5, 5, false]);
    expect(memoEntries()).toEqual([[A, "1"]]);
  });
  test("stays unrecorded when it was applied after the expected commit", () => {
    run.expectCommit(4);
    run.applyOptimistically([completed(A, "1")], INLINE);
    commit("AdvanceRun", started, ...scheduledAndBegun(A));
    expect([run.recorded(), run.history.version, run.isBehind()]).toEqual([4, 5, false]);
  });
  test.each<[string, () => void]>([
    ["another command came first", () => commit("CancelRun", cancelled)],
    ["less was committed", () => commit("AdvanceRun", started)],
    ["the commit was not expected", () => commit("TakeRun", started, ...scheduledAndBegun(A))],
    [
      "another process committed in between",
      () => {
        log.add(cancelled);
        commit("AdvanceRun", started, ...scheduledAndBegun(A));
      },
    ],
  ])("leaves the run behind when %s", (_, happen) => {
    run.expectCommit(4);
    happen();
    expect([run.recorded(), run.isBehind()]).toEqual([1, true]);
  });
  test("is dropped by a reload, which makes a new memo", async () => {
    const { memo } = run.history;
    run.applyOptimistically([completed(A, "1")], INLINE);
    log.add(started, ...scheduledAndBegun(B), completed(B, "2"));
    await run.reload();
    expect([run.recorded(), run.history.version, run.isBehind()]).toEqual([5, 5, false]);
    expect(memoEntries()).toEqual([[B, "2"]]);
    expect(run.history.memo).not.toBe(memo);
    expect([...run.history.steps.keys()]).toEqual([B]);
  });
  test("is not expected after a reload", async () => {
    run.expectCommit(4);
    await run.reload();
    commit("AdvanceRun", started, ...scheduledAndBegun(A));
    expect([run.recorded(), run.history.version, run.history.steps.size]).toEqual([4, 4, 1]);
  });
});

describe("A commit of this process", () => {
  test("is folded when the run has no optimistic events", () => {
    commit("TakeRun", started);
    expect([run.recorded(), run.history.state.status, run.isBehind()]).toEqual([2, "running", false]);
  });
  test("is ignored when the run has folded it from the log", async () => {
    log.add(started);
    await run.catchUp();
    run.commit("TakeRun", { events: [started], version: 2 });
    expect([run.recorded(), run.history.version, run.isBehind()]).toEqual([2, 2, false]);
  });
  test("leaves the run behind when an event before it is missing", () => {
    const [scheduled, begun] = scheduledAndBegun(A);
    log.add(started, scheduled);
    commit("AdvanceRun", begun);
    expect([run.recorded(), run.isBehind()]).toEqual([1, true]);
  });
  test("is read again when it arrives while the log is read", async () => {
    log.add(started);
    const reading = run.catchUp();
    commit("CancelRun", cancelled);
    expect(run.isBehind()).toBe(true);
    await reading;
    expect([run.recorded(), run.history.state.status, run.isBehind()]).toEqual([3, "cancelled", false]);
  });
});

describe("A run whose log cannot be read", () => {
  test("is behind, and reads the log again", async () => {
    log.add(started);
    log.breaks(1);
    await expect(run.catchUp()).rejects.toThrow("away");
    expect([run.recorded(), run.isBehind()]).toEqual([1, true]);
    await run.catchUp();
    expect([run.recorded(), run.isBehind()]).toEqual([2, false]);
  });
  test("reads the log from its start when it failed during a reload", async () => {
    run.applyOptimistically([started], INLINE);
    log.breaks(1);
    await expect(run.reload()).rejects.toThrow("away");
    expect(run.isBehind()).toBe(true);
    await run.reload();
    expect([run.recorded(), run.history.version, run.history.state.status]).toEqual([1, 1, "pending"]);
  });
});

test("a destroyed run cannot catch up or reload", async () => {
  log.add(cancelled, RunForgotten.of({ run_id: RUN_ID }));
  await expect(run.catchUp()).rejects.toThrow(RunGone);
  await expect(run.reload()).rejects.toThrow(RunGone);
});

test("a run that is destroyed between two pages of its log is gone", async () => {
  const { personal: _, ...erased } = completed(A, "1");
  log.add(started, ...scheduledAndBegun(A), erased);
  await expect(fromLog(log.deps, target)).rejects.toThrow(RunGone);
});

test("a run opened from the log has folded all its events", async () => {
  log.add(started, ...scheduledAndBegun(A), completed(A, "1"));
  const opened = await fromLog(log.deps, target);
  expect([opened.recorded(), opened.history.version, opened.isBehind()]).toEqual([5, 5, false]);
  await expect(fromLog(openMemoryLog().deps, target)).rejects.toThrow(RunGone);
});

test("a run is opened only as far as it has room: a long value is not even read", async () => {
  const stored = StepCompleted.of(
    { run_id: RUN_ID, key: A, name: "work", attempt: 1, at: AT, duration_ms: 1, secrets: [] },
    { result: { blob: "nothing", bytes: 100_000 }, logs: [] },
  );
  log.add(started, ...scheduledAndBegun(A), completed(B, `"${"x".repeat(500)}"`), stored);
  const asked: number[] = [];
  const upTo = (most: number) => (size: number) => (asked.push(size), size <= most);
  await expect(fromLog(log.deps, target, upTo(100))).rejects.toThrow(NoRoom);
  expect(asked.at(-1)).toBeGreaterThan(500);
  await expect(fromLog(log.deps, target, upTo(100_000))).rejects.toThrow(NoRoom);
  expect(asked.at(-1)).toBeGreaterThan(100_500);
  await expect(fromLog(log.deps, target, upTo(200_000))).rejects.toThrow("destroyed");
});

test("the size of a run is that of its texts, also after a reload", async () => {
  const size = () => sizeOfRun(run.history);
  const before = size();
  log.add(started, ...scheduledAndBegun(A), completed(A, "12345"));
  await run.catchUp();
  expect(size() - before).toBe("{}12345".length);
  await run.reload();
  expect(size() - before).toBe("{}12345".length);
});

test("a run that catches up folds each page of its log before it reads the next", async () => {
  const events = manyAttempts(1);
  const growing = openMemoryLog(events[0]!);
  const folded: number[] = [];
  const versions: (() => number)[] = [];
  async function* pages(stream: string, from?: number) {
    for await (const page of growing.deps.log.pages(stream, from)) {
      yield page;
      for (const version of versions) folded.push(version());
    }
  }
  const opened = await fromLog({ ...growing.deps, log: { pages } }, target);
  versions.push(() => opened.history.version);
  growing.add(...events.slice(1));
  await opened.catchUp();
  expect(folded).toEqual([1_001, 2_001, 3_001, 4_001, 5_001, 6_001, 6_003]);
});

test("a reload takes about as long as opening the run, although others may keep states in between", async () => {
  const long = openMemoryLog(...manyAttempts(3));
  const timed = async (work: () => Promise<unknown>): Promise<number> => {
    const start = process.threadCpuUsage();
    await work();
    const { user, system } = process.threadCpuUsage(start);
    return (user + system) / 1000;
  };
  let opened: OpenRun | undefined;
  const opening = await timed(async () => (opened = await fromLog(long.deps, target)));
  const reloading = await timed(() => opened!.reload());
  expect(opened!.history.memo).toHaveLength(3_000);
  expect(reloading).toBeLessThan(500 + 3 * opening);
}, 30_000);

test("a run with 3,000 open steps is opened in parts, between which other work runs", async () => {
  const events = manyAttempts(3);
  let opened: OpenRun | undefined;
  const held = await longestTurn(async () => (opened = await fromLog(openMemoryLog(...events).deps, target)));
  expect(held).toBeLessThan(100);
  expect(opened!.history.version).toBe(events.length);
  expect(opened!.history.memo).toHaveLength(3_000);
}, 30_000);
