import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Entry, Part } from "#events/runParts.ts";
import { CREATED, INLINE, keyOf, openMemoryLog, STREAM } from "#test/doubles/runInMemory.ts";
import { NO_TICK } from "#test/noTick.ts";
import { advance } from "../deciders/run.ts";
import { evolve } from "../deciders/runState.ts";
import { fromCreated, fromLog, type OpenRun } from "./openRun.ts";
import { createOutbox, type Outbox } from "./outbox.ts";

const AT = "2026-01-01T00:00:00.000Z";
const [A, B, C] = [keyOf("a"), keyOf("b"), keyOf("c")];
/** A tick that asks for a step, which begins at once. */
const asks = (key: string): Part => ({
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
const completed = (key: string, attempt = 1): Entry => ({
  type: "step_completed",
  key,
  attempt,
  duration_ms: 1,
  result: { json: "1" },
  logs: [],
  secrets: [],
});
const came = (...entries: Entry[]): Part => ({ at: AT, entries, tick: null });

/** What was sent, and how each comes to its end. */
interface Sent {
  seen: number;
  parts: Part[];
  /** Is committed as the decider makes it. */
  commit(): void;
  answer: PromiseWithResolvers<void>;
}
let log: ReturnType<typeof openMemoryLog>;
let run: OpenRun;
let outbox: Outbox;
let all: Sent[];
let failures: unknown[];
/** Commits the creation of the run with what was handed over. */
let create: (parts: Part[]) => void;
/** `creation`: of a run that is not in the log yet. */
function open(creation?: Promise<void>): void {
  // what the log says, for the decider that commits
  let state = log.version() === 0 ? evolve({ status: "absent" }, CREATED) : run.history.state;
  outbox = createOutbox(run, {
    send: ({ seen, parts, epoch }) => {
      const answer = Promise.withResolvers<void>();
      const commit = () => {
        const events = advance({ run_id: CREATED.data.run_id, epoch, seen, parts }, state);
        state = events.reduce(evolve, state);
        log.add(...events);
        run.commit("AdvanceRun", { events, version: log.version() });
      };
      all.push({ seen, parts, commit, answer });
      return answer.promise;
    },
    onFailed: (error) => void failures.push(error),
    creation,
  });
  create = (parts) => {
    const events = [CREATED, ...advance({ run_id: CREATED.data.run_id, epoch: 1, seen: 1, parts }, state)];
    state = events.slice(1).reduce(evolve, state);
    log.add(...events);
    run.commit("StartRun", { events, version: log.version() });
  };
}
beforeEach(async () => {
  vi.useFakeTimers();
  log = openMemoryLog(CREATED);
  run = await fromLog(log.deps, { stream: STREAM, organization_id: "o1" });
  [all, failures] = [[], []];
  open();
});
afterEach(() => vi.useRealTimers());

const settled = () => vi.advanceTimersByTimeAsync(0);
async function succeed(one: Sent): Promise<void> {
  one.commit();
  one.answer.resolve();
  await settled();
}
/** Has what is noted sent; gives what resolves when it is recorded. */
async function flush(): Promise<{ over: Promise<void> }> {
  const over = outbox.flush();
  await settled();
  return { over };
}
const note = (part: Part): boolean => outbox.note(part, 1, INLINE);

test("what is noted is folded in at once and sent 25 ms later", async () => {
  expect(note(asks(A))).toBe(true);
  expect([run.history.version, run.recorded(), outbox.size()]).toEqual([4, 1, 1]);
  await vi.advanceTimersByTimeAsync(24);
  expect(all).toHaveLength(0);
  await vi.advanceTimersByTimeAsync(1);
  expect(all).toMatchObject([{ seen: 1, parts: [asks(A)] }]);
  await succeed(all[0]!);
  expect([run.recorded(), outbox.size(), outbox.failed()]).toEqual([4, 0, false]);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(all).toHaveLength(1);
});

test("the 25 ms count from the first that waits", async () => {
  note(asks(A));
  await vi.advanceTimersByTimeAsync(20);
  note(came(completed(A)));
  await vi.advanceTimersByTimeAsync(5);
  expect(all[0]!.parts).toHaveLength(2);
});

test("what means nothing for the run is not noted", async () => {
  expect(note(came(completed(A)))).toBe(false);
  expect(outbox.note(asks(A), 7, INLINE)).toBe(false);
  await vi.advanceTimersByTimeAsync(1_000);
  expect([all.length, outbox.size(), run.history.version]).toEqual([0, 0, 1]);
});

test("one is sent at a time, and what comes meanwhile goes with the next, on what that has come to", async () => {
  note(asks(A));
  const first = await flush();
  note(came(completed(A)));
  note(asks(B));
  await vi.advanceTimersByTimeAsync(1_000);
  expect(all).toHaveLength(1);
  expect(outbox.size()).toBe(3);
  await succeed(all[0]!);
  await first.over;
  // their time is over: they are sent at once by whoever asks, or by the clock
  const second = await flush();
  expect(all[1]).toMatchObject({ seen: 4, parts: [came(completed(A)), asks(B)] });
  await succeed(all[1]!);
  await second.over;
  expect([run.recorded(), run.history.version]).toEqual([7, 7]);
});

test("who waits for what is noted does not wait for what is noted later", async () => {
  note(asks(A));
  const waited = await flush();
  note(came(completed(A)));
  await succeed(all[0]!);
  await expect(Promise.race([waited.over.then(() => "done"), vi.advanceTimersByTimeAsync(1)])).resolves.toBe("done");
  expect(all).toHaveLength(1);
});

test("nobody waits where nothing is noted", async () => {
  await outbox.flush();
  expect(all).toHaveLength(0);
});

describe("where it fails", () => {
  test.each<[string, (one: Sent) => void, unknown[]]>([
    ["because it could not be sent", ({ answer }) => answer.reject(new Error("away")), [new Error("away")]],
    ["because something else was committed", ({ answer }) => answer.resolve(), [undefined]],
  ])("%s, who waits is let go, and what steps came to is given back", async (_, fail, errors) => {
    note(asks(A));
    const waited = await flush();
    note(came(completed(A)));
    note(asks(C));
    fail(all[0]!);
    await waited.over;
    await settled();
    expect(failures).toEqual(errors);
    expect([outbox.failed(), outbox.size()]).toEqual([true, 3]);
    // nothing is sent any more
    await vi.advanceTimersByTimeAsync(1_000);
    await outbox.flush();
    expect(all).toHaveLength(1);
    expect(outbox.rescue()).toEqual([completed(A)]);
    expect([outbox.failed(), outbox.size()]).toEqual([false, 0]);
  });
  test("starts are not given back: what has begun without being on record has not begun", async () => {
    note(asks(A));
    note({ at: AT, entries: [completed(A)], tick: null });
    note(asks(B));
    const failed: Entry = {
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
    note(came(failed));
    note(came({ type: "step_started", key: B, attempt: 2 }, completed(B, 2)));
    await flush();
    all[0]!.answer.resolve();
    await settled();
    expect(outbox.rescue()).toEqual([completed(A), failed, completed(B, 2)]);
  });
});

describe("closing", () => {
  test("drops what is not being sent", async () => {
    note(asks(A));
    await outbox.close();
    await vi.advanceTimersByTimeAsync(1_000);
    expect([all.length, outbox.size()]).toEqual([0, 0]);
  });
  test("waits for what is", async () => {
    note(asks(A));
    await flush();
    note(came(completed(A)));
    const closed = outbox.close();
    let over = false;
    void closed.then(() => (over = true));
    await settled();
    expect(over).toBe(false);
    await succeed(all[0]!);
    await closed;
    await vi.advanceTimersByTimeAsync(1_000);
    expect([all.length, run.recorded(), outbox.size()]).toEqual([1, 4, 0]);
  });
});

describe("of a run that is being created", () => {
  let creation: PromiseWithResolvers<void>;
  let isWanted: boolean;
  beforeEach(async () => {
    log = openMemoryLog();
    creation = Promise.withResolvers<void>();
    run = await fromCreated(log.deps, { stream: STREAM, organization_id: "o1" }, CREATED, creation.promise);
    open(creation.promise);
    isWanted = false;
    void outbox.wanted.then(() => (isWanted = true));
  });

  test("what is noted is recorded with its creation, and what comes later by itself", async () => {
    note(asks(A));
    expect([run.recorded(), run.history.version]).toEqual([0, 4]);
    const parts = outbox.handOver("StartRun");
    expect(parts).toEqual([asks(A)]);
    note(came(completed(A)));
    await vi.advanceTimersByTimeAsync(1_000);
    // nothing is sent of a run that may never be
    expect(all).toHaveLength(0);
    create(parts);
    creation.resolve();
    await settled();
    expect([run.recorded(), outbox.failed()]).toEqual([4, false]);
    await vi.advanceTimersByTimeAsync(25);
    expect(all).toMatchObject([{ seen: 4, parts: [came(completed(A))] }]);
    await succeed(all[0]!);
    expect([run.recorded(), outbox.size()]).toEqual([5, 0]);
  });
  test("nothing is sent before it is handed over; who waits says so, and is let go with its creation", async () => {
    note(asks(A));
    await settled();
    expect(isWanted).toBe(false);
    let isOver = false;
    const waited = outbox.flush().then(() => (isOver = true));
    await vi.advanceTimersByTimeAsync(1_000);
    expect([isWanted, isOver, all.length]).toEqual([true, false, 0]);
    create(outbox.handOver("StartRun"));
    creation.resolve();
    await waited;
    expect([run.recorded(), all.length]).toEqual([4, 0]);
  });
  test("it may have come to nothing yet", async () => {
    const parts = outbox.handOver("StartRun");
    expect(parts).toEqual([]);
    create(parts);
    creation.resolve();
    await settled();
    expect([run.recorded(), outbox.failed()]).toEqual([1, false]);
  });
  test("where it was not created, who waits is let go, and what steps came to is given back", async () => {
    note(asks(A));
    const waited = outbox.flush();
    outbox.handOver("StartRun");
    note(came(completed(A)));
    creation.resolve();
    await waited;
    expect([run.recorded(), outbox.failed(), failures]).toEqual([0, true, [undefined]]);
    expect(outbox.rescue()).toEqual([completed(A)]);
    expect(all).toHaveLength(0);
  });
});
