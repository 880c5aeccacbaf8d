import { expect, test } from "vitest";
import { ApprovalCancelled, RunCancelled, RunCompleted, RunContinued, RunStarted } from "#events/run.ts";
import { chainClaim, ChildRunRequested, continuationId, RunSettled, RunWatched } from "#events/runLinks.ts";
import type { TickResult } from "#events/runParts.ts";
import { RunLimits } from "#events/workflow.ts";
import { command, given } from "#test/given.ts";
import { NO_TICK } from "#test/noTick.ts";
import { runCreated } from "#test/samples.ts";
import { run } from "./run.ts";
import { workStatus } from "./runWork.ts";

const AT = "2026-01-01T00:00:00.000Z";
const id = { run_id: "r1" };
const NEXT = continuationId("r1");
const rules = {
  definition_version: 2,
  limits: RunLimits.parse({}),
  approvals: { default_expiry_s: 60, allow_api_key: true },
  retention_days: 1,
};
const created = runCreated({
  ...id,
  ...rules,
  started_by: { type: "api_key", id: "k1" },
  slot: "s1",
  created_at: AT,
  worker: "p1",
});
const chained = {
  ...created,
  data: {
    ...created.data,
    continued_from: { run_id: "r0", first_run_id: "r0", nth: 2 },
    watchers: [{ run_id: "r9", awaited_run_id: "r0" }],
  },
};
const started = RunStarted.of({ ...id, at: AT });
const args = { json: '{"n":2}' };
const tick = (seen: number, part: Partial<TickResult>) =>
  command("AdvanceRun", { ...id, epoch: 1, seen, parts: [{ at: AT, entries: [], tick: { ...NO_TICK, ...part } }] });
const goOn = (seen: number) => tick(seen, { end: { type: "continued", args, ...rules } });
const end = { ...id, slot: "s1", forget_at: "2026-01-02T00:00:00.000Z" };
const continued = (first_run_id: string) =>
  RunContinued.of({ ...end, settles: true, ...rules, continued_as: NEXT, first_run_id }, { args });
const watched = RunWatched.of({ ...id, watcher_id: "r8" });

test("a run that continues as another one ends with that one's id and rules, and keeps its slot", () => {
  given(run, [created, started]).when(goOn(2)).then(continued("r1"));
  expect(run.claims!([continued("r1")])).toEqual({ hold: [], release: [] });
});

test("its end is open work until the next run is started, which inherits the watchers", () => {
  const { state } = given(run, [chained, started, watched, continued("r0")]);
  expect(state).toMatchObject({
    status: "continued",
    first_run_id: "r0",
    settling: {
      next: {
        run_id: NEXT,
        watchers: [
          { run_id: "r9", awaited_run_id: "r0" },
          { run_id: "r8", awaited_run_id: "r1" },
        ],
      },
    },
  });
  expect(workStatus(state).status).toBe("ending");
  expect(workStatus(given(run, [created, started, continued("r1"), RunSettled.of(id)]).state).status).toBe("waiting");
});

test("child runs that end with their starter end with the chain", () => {
  const child = (key: string, child_run_id: string, on_parent_end: "cancel" | "leave") =>
    ChildRunRequested.of({ ...id, key, child_run_id, on_parent_end }, { workflow: "w", args });
  const inherited = { ...chained, data: { ...chained.data, children: ["c0"] } };
  const events = [inherited, started, child("k1", "c1", "cancel"), child("k2", "c2", "leave")];
  const { state } = given(run, [...events, continued("r0")]);
  expect(state).toMatchObject({ settling: { cancel: [], next: { children: ["c0", "c1"] } } });
  const cancelled = RunCancelled.of({ ...end, settles: true, by: { type: "system", id: "s" } }, { reason: null });
  expect(given(run, [...events, cancelled]).state).toMatchObject({ settling: { cancel: ["c0", "c1"] } });
});

test("the runs of a chain hand a claim on it from one to the next", () => {
  const { rejection, name } = run.claims!([chained]).hold[0]!;
  expect([name, rejection.code]).toEqual([chainClaim("r0"), "run_exists"]);
  expect(run.claims!([continued("r0")]).release).toEqual([chainClaim("r0")]);
  // the last run releases the slot that the first one took
  const completed = RunCompleted.of({ ...end, completion: "explicit" }, { result: args });
  expect(run.claims!([completed]).release).toEqual(["run-slot:s1"]);
});

test("a cancellation of a run that another one continues is refused with that reason", () => {
  given(run, [created, started, continued("r1")])
    .when(command("CancelRun", { ...id, by: { type: "person", id: "u1" }, reason: null }))
    .rejected("run_continued");
});

test("a tick that was computed before a decision does not end the run", () => {
  given(run, [created, started, watched]).when(goOn(2)).then();
});

test("its open approvals are cancelled", () => {
  const approval = { approval_id: "a1", key: "k".repeat(22) };
  const asked = {
    type: "ApprovalRequested",
    data: { ...id, ...approval, expires_at: AT, on_expiry: "return" },
  } as never;
  given(run, [created, started, asked])
    .when(goOn(3))
    .then(ApprovalCancelled.of({ ...id, ...approval, reason: "run_ended" }), continued("r1"));
});
