import { expect, test } from "vitest";
import { ApprovalExpired, ApprovalRequested, RunStarted, RunTaken, TimerFired, TimerStarted } from "#events/run.ts";
import { MessageWaitStarted, WaitTimedOut } from "#events/runLinks.ts";
import { command, given } from "#test/given.ts";
import { runCreated } from "#test/samples.ts";
import { run } from "./run.ts";

/* Things that become due together, because no process looked for a while. */

const START = Date.parse("2026-01-01T00:00:00.000Z");
const minute = (n: number): string => new Date(START + n * 60_000).toISOString();
const NOW = minute(60);
const id = { run_id: "r1" };
const keyOf = (letter: string): string => letter.repeat(22);
const timer = (letter: string, at: number) => TimerStarted.of({ ...id, key: keyOf(letter), fires_at: minute(at) });
const wait = (letter: string, at: number) =>
  MessageWaitStarted.of(
    { ...id, key: keyOf(letter), project_id: null, expires_at: minute(at) },
    { name: "paid", match: {} },
  );
const approval = (letter: string, at: number, on_expiry: "return" | "fail" = "return") =>
  ApprovalRequested.of(
    {
      ...id,
      approval_id: letter,
      key: keyOf(letter),
      self_approval: true,
      allow_api_key: true,
      expires_at: minute(at),
      on_expiry,
      workflow_id: "w1",
      project_id: null,
    },
    { name: "boss", title: "Go?", body: null, form: null, assignees: [] },
  );
const live = [
  runCreated({ ...id, created_at: minute(0), expires_at: minute(1_000), worker: "p1" }),
  RunStarted.of({ ...id, at: minute(0) }),
];
const take = command("TakeRun", { ...id, epoch: 1, worker: "p2", lost: false }, { at: NOW });
const fired = (letter: string) => TimerFired.of({ ...id, key: keyOf(letter) });
const timedOut = (letter: string) => WaitTimedOut.of({ ...id, key: keyOf(letter) });
const expired = (letter: string) => ApprovalExpired.of({ ...id, approval_id: letter, key: keyOf(letter), at: NOW });
const taken = RunTaken.of({ ...id, epoch: 2, worker: "p2", reason: "woken" });

test("overdue things happen in the order of their times, whatever their kind and whichever began first", () => {
  const begun = [wait("a", 40), timer("b", 50), timer("c", 30), wait("d", 20), approval("e", 45), timer("f", 61)];
  given(run, [...live, ...begun])
    .when(take)
    .then(timedOut("d"), fired("c"), timedOut("a"), expired("e"), fired("b"), taken);
});

test("things that are due at the same time happen in the order in which they began", () => {
  given(run, [...live, timer("b", 30), timer("a", 30), timer("c", 30)])
    .when(take)
    .then(fired("b"), fired("a"), fired("c"), taken);
});

test("nothing happens to a run after its end", () => {
  const begun = [timer("a", 50), approval("b", 40, "fail"), timer("c", 30)];
  const events = run.decide(take as never, given(run, [...live, ...begun]).state);
  expect(events.slice(0, 2)).toEqual([fired("c"), expired("b")]);
  expect(events.slice(2).map(({ type }) => type)).toEqual(["RunFailed"]);
});
