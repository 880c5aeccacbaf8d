import { expect, test } from "vitest";
import { RunCompleted, RunForgotten, RunStarted } from "#events/run.ts";
import { MessageWaitStarted } from "#events/runLinks.ts";
import { CREATED } from "#test/doubles/runInMemory.ts";
import { evolve, type RunState } from "./runState.ts";
import { run } from "./run.ts";
import { storedRun } from "./storedRun.ts";

const { run_id } = CREATED.data;
const wait = { run_id, key: "a".repeat(22), project_id: null, expires_at: null };
const events = [
  CREATED,
  RunStarted.of({ run_id, at: "2026-01-01T00:00:00.000Z" }),
  MessageWaitStarted.of(wait, { name: "paid", match: {} }),
  RunCompleted.of(
    { run_id, slot: null, forget_at: "2026-01-02T00:00:00.000Z", completion: "explicit" },
    { result: { json: "1" } },
  ),
  RunForgotten.of({ run_id }),
];
const states = events.reduce<RunState[]>((all, event) => [...all, evolve(all.at(-1)!, event)], [run.initial]);

test.each(states.map((state) => [state.status, state] as const))("a state that is %s is read as it was", (_, state) => {
  const json = JSON.stringify(storedRun.write(state));
  expect(storedRun.read(JSON.parse(json))).toEqual(state);
});

test("a waiting run has no empty fields in its row", () => {
  const stored = storedRun.write(states[3]!) as object;
  expect(Object.keys(stored)).not.toContain("timers");
  expect(Object.values(stored)).not.toContain(null);
  expect(stored).toHaveProperty("waits");
});
