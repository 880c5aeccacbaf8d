import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { StepEntry, RunPart } from "#events/runParts.ts";
import { CREATED, INLINE, keyOf, openMemoryLog, STREAM } from "#test/doubles/runInMemory.ts";
import { NO_TICK } from "#test/noTick.ts";
import { advanceRun } from "../deciders/run.ts";
import { evolve } from "../deciders/runState.ts";
import { fromCreated, fromLog, type OpenRun } from "./openRun.ts";
import { createOutbox, type Outbox } from "./outbox.ts";

const AT = "2026-01-01T00:00:00.000Z";
const [A, B, C] = [keyOf("a"), keyOf("b"), keyOf("c")];
/** A tick that schedules a step and starts it. */
const schedules = (key: string): RunPart => ({
  at: AT,
  entries: [],
  tick: {
    ...NO_TICK,
    schedule: [
      {
        concurrency: null,
        on_error: "fail",
        steps: [{ key, name: "work", batch: null, index: null, args: { json: "1" } }],
      },
    ],
    start: [key],
  },
});
const completed = (key: string, attempt = 1): StepEntry => ({
  type: "step_completed",
  key,
  attempt,
  duration_ms: 1,
  result: { json: "1" },
  logs: [],
  secrets: [],
});
const reports = (...entries: StepEntry[]): RunPart => ({ at: AT, entries, tick: null });

/** A sent command that is not committed yet. */
interface SentCommand {
  seen: number;
  parts: RunPart[];
  /** Commits the events that the decider returns for it. */
  commit(): void;
  answer: PromiseWithResolvers<void>;
}
let log: ReturnType<typeof openMemoryLog>;
let run: OpenRun;
let outbox: Outbox;
let commands: SentCommand[];
let failures: unknown[];
/** Commits the creation of the run with the parts handed over. */
let create: (parts: RunPart[]) => void;
/** `creation`: the run is not in the log yet. */
function open(creation?: Promise<void>): void {
  // the recorded state
  let state = log.version() === 0 ? evolve({ status: "absent" }, CREATED) : run.history.state;
  outbox = createOutbox(run, {
    send: ({ seen, parts, epoch }) => {
      const answer = Promise.withResolvers<void>();
      const commit = () => {
        const events = advanceRun({ run_id: CREATED.data.run_id, epoch, seen, parts }, state);
        state = events.reduce(evolve, state);
        log.add(...events);
        run.commit("AdvanceRun", { events, version: log.version() });
      };
      commands.push({ seen, parts, commit, answer });
      return answer.promise;
    },
    onFailed: (error) => void failures.push(error),
    creation,
  });
  create = (parts) => {
    const events = [CREATED, ...advanceRun({ run_id: CREATED.data.run_id, epoch: 1, seen: 1, parts }, state)];
    state = events.slice(1).reduce(evolve, state);
    log.add(...events);
    run.commit("StartRun", { events, version: log.version() });
  };
}
beforeEach(async () => {
  vi.useFakeTimers();
  log = openMemoryLog(CREATED);
  run = await fromLog(log.deps, { stream: STREAM, organization_id: "o1" });
  [commands, failures] = [[], []];
  open();
});
afterEach(() => vi.useRealTimers());

const settled = () => vi.advanceTimersByTimeAsync(0);
async function succeed(one: SentCommand): Promise<void> {
  one.commit();
  one.answer.resolve();
  await settled();
}
/** Flushes; `over` resolves with the flush. */
async function flush(): Promise<{ over: Promise<void> }> {
  const over = outbox.flush();
  await settled();
  return { over };
}
const enqueue = (part: RunPart): boolean => outbox.enqueue(part, 1, INLINE);

test("an enqueued part is applied at once and sent 25 ms later", async () => {
  expect(enqueue(schedules(A))).toBe(true);
  expect([run.history.version, run.recorded(), outbox.size()]).toEqual([4, 1, 1]);
  await vi.advanceTimersByTimeAsync(24);
  expect(commands).toHaveLength(0);
  await vi.advanceTimersByTimeAsync(1);
  expect(commands).toMatchObject([{ seen: 1, parts: [schedules(A)] }]);
  await succeed(commands[0]!);
  expect([run.recorded(), outbox.size(), outbox.hasFailed()]).toEqual([4, 0, false]);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(commands).toHaveLength(1);
});

test("the 25 ms count from the first part that waits", async () => {
  enqueue(schedules(A));
  await vi.advanceTimersByTimeAsync(20);
  enqueue(reports(completed(A)));
  await vi.advanceTimersByTimeAsync(5);
  expect(commands[0]!.parts).toHaveLength(2);
});

test("a part that changes nothing is not sent", async () => {
  expect(enqueue(reports(completed(A)))).toBe(false);
  expect(outbox.enqueue(schedules(A), 7, INLINE)).toBe(false);
  await vi.advanceTimersByTimeAsync(1_000);
  expect([commands.length, outbox.size(), run.history.version]).toEqual([0, 0, 1]);
});

test("parts that arrive during a commit share the next one, which builds on it", async () => {
  enqueue(schedules(A));
  const first = await flush();
  enqueue(reports(completed(A)));
  enqueue(schedules(B));
  await vi.advanceTimersByTimeAsync(1_000);
  expect(commands).toHaveLength(1);
  expect(outbox.size()).toBe(3);
  await succeed(commands[0]!);
  await first.over;
  // their 25 ms have passed, so they are sent at once
  const second = await flush();
  expect(commands[1]).toMatchObject({ seen: 4, parts: [reports(completed(A)), schedules(B)] });
  await succeed(commands[1]!);
  await second.over;
  expect([run.recorded(), run.history.version]).toEqual([7, 7]);
});

test("a flush does not wait for parts that are enqueued later", async () => {
  enqueue(schedules(A));
  const waited = await flush();
  enqueue(reports(completed(A)));
  await succeed(commands[0]!);
  await expect(Promise.race([waited.over.then(() => "done"), vi.advanceTimersByTimeAsync(1)])).resolves.toBe("done");
  expect(commands).toHaveLength(1);
});

test("a flush without parts sends nothing", async () => {
  await outbox.flush();
  expect(commands).toHaveLength(0);
});

describe("a failed append", () => {
  test.each<[string, (one: SentCommand) => void, unknown[]]>([
    ["that could not be sent", ({ answer }) => answer.reject(new Error("away")), [new Error("away")]],
    ["that met another commit", ({ answer }) => answer.resolve(), [undefined]],
  ])("%s ends the flush and gives the finished attempts back", async (_, fail, errors) => {
    enqueue(schedules(A));
    const waited = await flush();
    enqueue(reports(completed(A)));
    enqueue(schedules(C));
    fail(commands[0]!);
    await waited.over;
    await settled();
    expect(failures).toEqual(errors);
    expect([outbox.hasFailed(), outbox.size()]).toEqual([true, 3]);
    // nothing more is sent
    await vi.advanceTimersByTimeAsync(1_000);
    await outbox.flush();
    expect(commands).toHaveLength(1);
    expect(outbox.takeUnrecorded()).toEqual([completed(A)]);
    expect([outbox.hasFailed(), outbox.size()]).toEqual([false, 0]);
  });
  test("gives no starts of attempts back", async () => {
    enqueue(schedules(A));
    enqueue({ at: AT, entries: [completed(A)], tick: null });
    enqueue(schedules(B));
    const failed: StepEntry = {
      type: "step_attempt_failed",
      key: B,
      attempt: 1,
      duration_ms: 1,
      code: "step_error",
      retry_at: AT,
      error: { message: "no", line: null },
      logs: [],
      secrets: [],
    };
    enqueue(reports(failed));
    enqueue(reports({ type: "step_started", key: B, attempt: 2 }, completed(B, 2)));
    await flush();
    commands[0]!.answer.resolve();
    await settled();
    expect(outbox.takeUnrecorded()).toEqual([completed(A), failed, completed(B, 2)]);
  });
});

describe("closing the outbox", () => {
  test("drops the parts that wait", async () => {
    enqueue(schedules(A));
    await outbox.close();
    await vi.advanceTimersByTimeAsync(1_000);
    expect([commands.length, outbox.size()]).toEqual([0, 0]);
  });
  test("waits for the append in flight", async () => {
    enqueue(schedules(A));
    await flush();
    enqueue(reports(completed(A)));
    const closed = outbox.close();
    let over = false;
    void closed.then(() => (over = true));
    await settled();
    expect(over).toBe(false);
    await succeed(commands[0]!);
    await closed;
    await vi.advanceTimersByTimeAsync(1_000);
    expect([commands.length, run.recorded(), outbox.size()]).toEqual([1, 4, 0]);
  });
});

describe("the outbox of a run that is being created", () => {
  let creation: PromiseWithResolvers<void>;
  let isFlushRequested: boolean;
  beforeEach(async () => {
    log = openMemoryLog();
    creation = Promise.withResolvers<void>();
    run = await fromCreated(log.deps, { stream: STREAM, organization_id: "o1" }, CREATED, creation.promise);
    open(creation.promise);
    isFlushRequested = false;
    void outbox.flushRequested.then(() => (isFlushRequested = true));
  });

  test("hands its parts over to the creation, and sends later ones itself", async () => {
    enqueue(schedules(A));
    expect([run.recorded(), run.history.version]).toEqual([0, 4]);
    const parts = outbox.handOver("StartRun");
    expect(parts).toEqual([schedules(A)]);
    enqueue(reports(completed(A)));
    await vi.advanceTimersByTimeAsync(1_000);
    // nothing is sent for a run that may never be created
    expect(commands).toHaveLength(0);
    create(parts);
    creation.resolve();
    await settled();
    expect([run.recorded(), outbox.hasFailed()]).toEqual([4, false]);
    await vi.advanceTimersByTimeAsync(25);
    expect(commands).toMatchObject([{ seen: 4, parts: [reports(completed(A))] }]);
    await succeed(commands[0]!);
    expect([run.recorded(), outbox.size()]).toEqual([5, 0]);
  });
  test("sends nothing before the creation, and a flush reports that it waits for it", async () => {
    enqueue(schedules(A));
    await settled();
    expect(isFlushRequested).toBe(false);
    let isOver = false;
    const waited = outbox.flush().then(() => (isOver = true));
    await vi.advanceTimersByTimeAsync(1_000);
    expect([isFlushRequested, isOver, commands.length]).toEqual([true, false, 0]);
    create(outbox.handOver("StartRun"));
    creation.resolve();
    await waited;
    expect([run.recorded(), commands.length]).toEqual([4, 0]);
  });
  test("may have no parts to hand over", async () => {
    const parts = outbox.handOver("StartRun");
    expect(parts).toEqual([]);
    create(parts);
    creation.resolve();
    await settled();
    expect([run.recorded(), outbox.hasFailed()]).toEqual([1, false]);
  });
  test("ends the flush and gives the finished attempts back when the creation fails", async () => {
    enqueue(schedules(A));
    const waited = outbox.flush();
    outbox.handOver("StartRun");
    enqueue(reports(completed(A)));
    creation.resolve();
    await waited;
    expect([run.recorded(), outbox.hasFailed(), failures]).toEqual([0, true, [undefined]]);
    expect(outbox.takeUnrecorded()).toEqual([completed(A)]);
    expect(commands).toHaveLength(0);
  });
});
