import { expect, test } from "vitest";
import { RunCancelled, RunCompleted, RunFailed, RunForgotten, RunStarted, RunTaken } from "#events/run.ts";
import {
  ChildRunRequested,
  ChildRunStarted,
  RunSettled,
  RunWaitRegistered,
  RunWaitStarted,
  RunWatched,
  WaitAnswered,
  WaitTimedOut,
} from "#events/runLinks.ts";
import type { LinkEntry, TickResult } from "#events/runParts.ts";
import { command, given } from "#test/given.ts";
import { NO_TICK } from "#test/noTick.ts";
import { runCreated } from "#test/samples.ts";
import { run } from "./run.ts";

const AT = "2026-01-01T00:00:00.000Z";
const LATER = "2026-01-01T01:00:00.000Z";
const id = { run_id: "r1" };
const [A, B] = ["a", "b"].map((key) => key.repeat(22)) as [string, string];
const created = runCreated({ ...id, started_by: { type: "api_key", id: "k1" }, created_at: AT, worker: "p1" });
const text = { workflow: "child", args: { json: "{}" } };
const requested = (on_parent_end: "cancel" | "leave" = "cancel", key = A) =>
  ChildRunRequested.of({ ...id, key, child_run_id: `child ${key[0]}`, on_parent_end }, text);
const childStarted = ChildRunStarted.of({ ...id, key: A, child_run_id: "child a" });
const wait = (expires_at: string | null = null) =>
  RunWaitStarted.of({ ...id, key: B, awaited_run_id: "child a", expires_at });
const registered = RunWaitRegistered.of({ ...id, key: B });
const answer = { json: '{"status":"completed"}' };
const answered = (lease: { epoch: number; worker: string | null }) =>
  WaitAnswered.of({ ...id, key: B, ...lease }, { answer });
const live = [created, RunStarted.of({ ...id, at: AT })];
const tick = (seen: number, part: Partial<TickResult>) =>
  command("AdvanceRun", { ...id, epoch: 1, seen, parts: [{ at: AT, entries: [], tick: { ...NO_TICK, ...part } }] });
const answers = command("AnswerRunWaits", { ...id, awaited_run_id: "child a", answer }, { worker: "p2" });
const end = { ...id, slot: null, forget_at: "2026-01-02T00:00:00.000Z" };
const by = { type: "person", id: "u1" } as const;
const cancel = command("CancelRun", { ...id, by, reason: null });

test("a tick requests child runs and waits", () => {
  const child = { key: A, child_run_id: "child a", on_parent_end: "cancel" as const, ...text };
  const runWaits = [{ key: B, awaited_run_id: "child a", expires_at: LATER }];
  given(run, live)
    .when(tick(2, { children: [child], runWaits }))
    .then(requested(), wait(LATER));
});

test("more child runs than a run may start fail it", () => {
  const children = Array.from({ length: 1_001 }, (_, n) => ({
    key: `${n}`.padEnd(22, "_"),
    child_run_id: `child ${n}`,
    on_parent_end: "cancel" as const,
    ...text,
  }));
  const failed = run.decide(tick(2, { children }) as never, given(run, live).state).at(-1)!;
  expect([failed.type, failed.data]).toEqual(["RunFailed", expect.objectContaining({ code: "too_many_child_runs" })]);
});

test("a run may wait for 1,000 timers and others at once, and more fail it", () => {
  const timers = (count: number) =>
    Array.from({ length: count }, (_, n) => ({ key: `${n}`.padEnd(22, "_"), fires_at: LATER }));
  const runWaits = [{ key: B, awaited_run_id: "child a", expires_at: LATER }];
  const { state } = given(run, live);
  const endOf = (part: Partial<TickResult>) => run.decide(tick(2, part) as never, state).at(-1)!;
  expect(endOf({ timers: timers(999), runWaits }).type).toBe("TimerStarted");
  for (const part of [{ timers: timers(1_000), runWaits }, { timers: timers(1_001) }])
    expect(endOf(part)).toMatchObject({ type: "RunFailed", data: { code: "too_many_waits" } });
});

test.each([
  ["a requested child run", [requested()], "running"],
  ["a started child run", [requested(), childStarted], "running"],
  ["a wait that is not registered", [wait()], "running"],
  ["a registered wait", [wait(), registered], "waiting"],
] as const)("%s leaves the run %s", (_, events, status) => {
  const state = given(run, [...live, ...events]).state;
  expect(run.workStatus!(state)).toMatchObject({ status });
});

const links = (...entries: LinkEntry[]) =>
  command("AdvanceRun", { ...id, epoch: 1, seen: 1, parts: [{ at: AT, links: entries, entries: [], tick: null }] });

test("the start of a child run and the registration of a wait are recorded once", () => {
  const [start, register] = [
    { type: "child_started", key: A },
    { type: "wait_registered", key: B },
  ] as const;
  given(run, [...live, requested()])
    .when(links(start, start))
    .then(childStarted);
  given(run, [...live, requested(), childStarted])
    .when(links(start))
    .then();
  given(run, [...live, wait()])
    .when(links(register, register))
    .then(registered);
});

test("the answer of a wait and the tick computed from it are one command", () => {
  const completed = { type: "completed" as const, completion: "explicit" as const, result: { json: "1" } };
  const ended = { at: AT, entries: [], tick: { ...NO_TICK, end: completed } };
  const answer_link = { type: "wait_answered", awaited_run_id: "child a", answer } as const;
  const completion = RunCompleted.of({ ...end, completion: "explicit" }, { result: { json: "1" } });
  const parts = [{ at: AT, links: [answer_link], entries: [], tick: null }, ended];
  given(run, [...live, wait()])
    .when(command("AdvanceRun", { ...id, epoch: 1, seen: 3, parts }))
    .then(answered({ epoch: 1, worker: "p1" }), completion);
  const told = { ...id, awaited_run_id: "child a", answer, seen: 5, parts: [ended] };
  given(run, [...live, wait(), registered])
    .when(command("AnswerRunWaits", told, { worker: "p2" }))
    .then(answered({ epoch: 2, worker: "p2" }), completion);
  // another event came first: the answer stays, and the tick is repeated
  given(run, [...live, wait(), registered])
    .when(command("AnswerRunWaits", { ...told, seen: 4 }, { worker: "p2" }))
    .then(answered({ epoch: 2, worker: "p2" }));
});

test("a refused call fails the run once", () => {
  const refuse = (key: string) =>
    command("RefuseCall", { ...id, key, refusal: { code: "invalid_args", message: "no" } });
  const failed = (key: string) => {
    const error = { message: "no", line: null };
    return RunFailed.of({ ...end, code: "invalid_args", key, step: null }, { error });
  };
  const { data, personal } = failed(A);
  given(run, [...live, requested()])
    .when(refuse(A))
    .then(RunFailed.of({ ...data, settles: true }, personal!));
  given(run, [...live, wait()])
    .when(refuse(B))
    .then(failed(B));
  const { data: call, ...envelope } = refuse(B);
  given(run, [...live, wait()])
    .when({ ...envelope, data: { ...call, line: 4, column: 9 } })
    .then(RunFailed.of(failed(B).data, { error: { message: "no", line: 4, column: 9 } }));
  given(run, [...live, requested(), childStarted])
    .when(refuse(A))
    .then();
  given(run, [...live, wait(), registered])
    .when(refuse(B))
    .then();
});

test("the end of an awaited run answers the wait once; a parked run goes to the process that records it", () => {
  given(run, [...live, wait(), registered])
    .when(answers)
    .then(answered({ epoch: 2, worker: "p2" }));
  // its coordinator still registers the wait
  given(run, [...live, wait()])
    .when(answers)
    .then(answered({ epoch: 1, worker: "p1" }));
  given(run, [...live, wait(), answered({ epoch: 2, worker: "p2" })])
    .when(answers)
    .then();
});

test("a wait times out when it is due, and a later answer has no effect", () => {
  const take = command("TakeRun", { ...id, epoch: 1, worker: "p2", lost: false }, { at: LATER });
  const timedOut = WaitTimedOut.of({ ...id, key: B });
  const events = [...live, wait(LATER), registered];
  expect(run.workStatus!(given(run, events).state)).toMatchObject({ status: "waiting", due_at: LATER });
  given(run, events)
    .when(take)
    .then(timedOut, RunTaken.of({ ...id, epoch: 2, worker: "p2", reason: "woken" }));
  given(run, [...events, timedOut])
    .when(answers)
    .then();
});

test("watchers are recorded once, a hundred at most, and not by a run that has ended", () => {
  const watch = (watcher_id: string) => command("WatchRun", { ...id, watcher_id });
  const watched = (watcher_id: string) => RunWatched.of({ ...id, watcher_id });
  given(run, live).when(watch("r2")).then(watched("r2"));
  given(run, [...live, watched("r2")])
    .when(watch("r2"))
    .then();
  const many = Array.from({ length: 100 }, (_, n) => watched(`r${n + 2}`));
  given(run, [...live, ...many])
    .when(watch("r102"))
    .rejected("too_many_watchers");
  const replacing = { ...id, watcher_id: "r102", ended: ["r2", "r7"] };
  given(run, [...live, ...many])
    .when(command("WatchRun", replacing))
    .then(RunWatched.of(replacing));
  expect(given(run, [...live, ...many, RunWatched.of(replacing)]).state).toHaveProperty("watchers.length", 99);
  given(run, [...live, RunCancelled.of({ ...end, by }, { reason: null })])
    .when(watch("r2"))
    .then();
  given(run).when(watch("r2")).rejected("run_not_found");
});

test("the end of a run with child runs is open work until it is settled", () => {
  const children = [requested(), childStarted, requested("leave", B)];
  const cancelled = RunCancelled.of({ ...end, settles: true, by }, { reason: null });
  given(run, [...live, ...children])
    .when(cancel)
    .then(cancelled);
  const over = [...live, ...children, cancelled];
  expect(given(run, over).state).toMatchObject({
    settling: { cancel: ["child a"], unstarted: ["child b"], notify: [] },
  });
  expect(run.workStatus!(given(run, over).state)).toMatchObject({ status: "ending", worker: null });
  const settle = command("SettleRun", id);
  given(run, over).when(settle).then(RunSettled.of(id));
  const settled = [...over, RunSettled.of(id)];
  expect(run.workStatus!(given(run, settled).state)).toMatchObject({ status: "waiting" });
  given(run, settled).when(settle).then();
});

test("a run whose child run may still be starting is not destroyed before it is settled, however it ended", () => {
  const settles = { ...end, settles: true };
  const ends = [
    RunCompleted.of({ ...settles, completion: "explicit" }, { result: { json: "1" } }),
    RunCancelled.of({ ...settles, by }, { reason: null }),
  ];
  const forget = command("ForgetRun", { ...id, by_rule: true });
  for (const ended of ends) {
    const over = [...live, requested("leave"), ended];
    expect(given(run, over).state).toMatchObject({ settling: { cancel: [], unstarted: ["child a"] } });
    given(run, over).when(forget).then();
    given(run, [...over, RunSettled.of(id)])
      .when(forget)
      .then(RunForgotten.of(id));
  }
  const completion = { type: "completed" as const, completion: "explicit" as const, result: { json: "1" } };
  given(run, [...live, requested("leave")])
    .when(tick(3, { end: completion }))
    .then(ends[0]!);
});

test("a run that an earlier release ended while a child run was starting waits for nothing", () => {
  const ended = RunCompleted.of({ ...end, completion: "explicit" }, { result: { json: "1" } });
  expect(given(run, [...live, requested(), ended]).state).toMatchObject({ settling: null });
});

test("a completed run leaves its child runs alone, and one whose end was seen needs no cancelling", () => {
  const completion = { type: "completed" as const, completion: "explicit" as const, result: { json: "1" } };
  given(run, [...live, requested(), childStarted])
    .when(tick(4, { end: completion }))
    .then(RunCompleted.of({ ...end, completion: "explicit" }, { result: { json: "1" } }));
  given(run, [...live, requested(), childStarted, wait(), registered, answered({ epoch: 2, worker: "p2" })])
    .when(cancel)
    .then(RunCancelled.of({ ...end, by }, { reason: null }));
});

test("a run that another one started has it as its first watcher", () => {
  const starter = { run_id: "r0", depth: 1, by };
  const { state } = given(run, [{ ...created, data: { ...created.data, starter } }]);
  expect(state).toMatchObject({ watchers: [{ run_id: "r0", awaited_run_id: null }] });
});

test("a child run that ends in the commit that creates it informs no parent, but one that continues another run does", () => {
  const { created_at: _, worker: __, ...fields } = created.data;
  const parts = [
    {
      at: AT,
      entries: [],
      tick: { ...NO_TICK, end: { type: "completed" as const, completion: "explicit" as const, result: { json: "1" } } },
    },
  ];
  const words = { args: { json: "{}" }, external_user_id: null, parts };
  const lastOf = (more: object): string | undefined =>
    run.decide(command("StartRun", { ...fields, ...words, ...more }, { at: AT }) as never, run.initial).at(-1)?.type;
  const starter = { run_id: "parent", depth: 1, by: { type: "api_key" as const, id: "k1" } };
  expect(lastOf({})).toBe("RunCompleted");
  expect(lastOf({ starter })).toBe("RunSettled");
  expect(lastOf({ starter, watchers: [{ run_id: "parent", awaited_run_id: "r0" }] })).toBe("RunCompleted");
});
