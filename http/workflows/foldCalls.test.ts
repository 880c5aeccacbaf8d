import { expect, test } from "vitest";
import type { NewEvent } from "#events/define.ts";
import type { RecordedEvent } from "#events/envelope.ts";
import { inOrderOfAnswers, type InheritedCall } from "#events/inheritedCalls.ts";
import { StepCompleted } from "#events/run.ts";
import { emptyHistory } from "#services/workflows/history.ts";
import { AT, CREATED, keyOf, RUN_ID, scheduledAndBegun, STREAM } from "#test/doubles/runInMemory.ts";
import type { Http } from "../base/deps.ts";
import { foldCalls } from "./foldCalls.ts";
import { readRecordedRun } from "./recordedRun.ts";
import { openCalls } from "./runValues.ts";

/* The order in which calls were made, and the order in which they were answered. */

const [A, B, C] = [keyOf("a"), keyOf("b"), keyOf("c")];
const completed = (key: string): NewEvent =>
  StepCompleted.of(
    { run_id: RUN_ID, key, name: "work", attempt: 1, at: AT, duration_ms: 1, secrets: [] },
    { result: { json: JSON.stringify(key[0]) }, logs: [] },
  );
/** Recorded in one millisecond. */
const recorded = (...events: NewEvent[]) =>
  events.map((event, n) => ({ ...event, version: n + 1, recorded_at: new Date(AT) })) as unknown as RecordedEvent[];
/** Steps that were asked for in this order, and answered in the order of the others. */
const race = (asked: string[], answered: string[]) =>
  recorded(CREATED, ...asked.flatMap(scheduledAndBegun), ...answered.map(completed));
const keysOf = (calls: readonly { key: string }[]) => calls.map(({ key }) => key);

const inherited = (key: string, more: Partial<InheritedCall> = {}): InheritedCall => ({
  key,
  kind: "step",
  name: "work",
  batch: null,
  index: null,
  args: "{}",
  answer: { json: "1" },
  answered_at: AT,
  ...more,
});
const memoKeys = (calls: InheritedCall[]) =>
  keysOf(emptyHistory({ organization_id: "o1", stream: STREAM }, CREATED, "{}", calls).memo);

test("a run that continues another one gets its answers in their order, and has the calls in theirs", async () => {
  const made = await foldCalls(race([A, B, C], [B, C, A]), []);
  const calls = await Array.fromAsync(openCalls(made, async (value) => ("json" in value ? value.json : null)));
  expect(keysOf(calls)).toEqual([A, B, C]);
  expect(memoKeys(calls)).toEqual([B, C, A]);
});

test("its own answers follow those that it inherited", async () => {
  const before = [inherited(A, { nth_answer: 9 }), inherited(B, { nth_answer: 4 })];
  const made = await foldCalls(race([C], [C]), before);
  expect([keysOf(made), keysOf(inOrderOfAnswers(made))]).toEqual([
    [A, B, C],
    [B, A, C],
  ]);
});

test("answers of earlier releases, which have no numbers, keep the order in which their run got them", async () => {
  const before = [inherited(B), inherited(A)];
  expect(memoKeys(before)).toEqual([B, A]);
  expect(keysOf(inOrderOfAnswers(await foldCalls(race([C], [C]), before)))).toEqual([B, A, C]);
});

test("a replay gets the answers of one millisecond in the order of the log", async () => {
  const pages = async function* () {
    yield { events: race([A, B, C], [C, A, B]), bytes: 100 };
  };
  const http = { streamPages: pages } as unknown as Http;
  const budget = { countBytes: () => {}, acquireLongRead: async () => {} };
  const run = await readRecordedRun(http, { id: RUN_ID, wrapped_key: "" } as never, budget);
  expect([keysOf(run!.calls), run!.answered]).toEqual([
    [A, B, C],
    [C, A, B],
  ]);
});
