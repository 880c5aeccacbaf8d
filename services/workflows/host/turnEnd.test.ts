import { expect, test } from "vitest";
import type { RecordedEvent } from "#events/envelope.ts";
import {
  NO_USAGE,
  ThreadDeleted,
  TurnCompleted,
  TurnDeleted,
  TurnFailed,
  TurnRefused,
  TurnStopped,
} from "#events/thread.ts";
import { findTurnEnd } from "./turnEnd.ts";

const said = { text: "Said", reasoning: "", citations: [] };
const ids = { turn_id: "0198f000-0000-7000-8000-000000000001", attempt: 1 };
const ended = { ...ids, usage: NO_USAGE, model: "offline/echo" };
const started = { type: "TurnStarted", data: ids };
const completed = TurnCompleted.of({ ...ended, finish_reason: "stop" }, { said });
const endOf = (...events: object[]) => findTurnEnd([started, ...events] as RecordedEvent[], ids.turn_id);

test("a running turn has no end, whatever the other turns of its thread do", () => {
  expect(endOf()).toBeUndefined();
  expect(findTurnEnd([], ids.turn_id)).toBeUndefined();
  const others = { ...completed, data: { ...completed.data, turn_id: "0198f000-0000-7000-8000-000000000002" } };
  expect(endOf(others)).toBeUndefined();
  expect(endOf(completed, { ...started, data: { ...ids, turn_id: "another" } })).toMatchObject({ status: "completed" });
});

test("the end of a turn in the log equals the end in its last frame", () => {
  expect(endOf(completed)).toEqual({ status: "completed", said, finish_reason: "stop", usage: NO_USAGE });
  const routed = TurnCompleted.of({ ...completed.data, usage_by_model: [] }, { said });
  expect(endOf(routed)).toMatchObject({ status: "completed", model: ended.model });
  expect(endOf(TurnFailed.of(ended, { said, message: "Broken" }))).toEqual({
    status: "failed",
    said,
    usage: NO_USAGE,
    message: "Broken",
  });
  expect(endOf(TurnStopped.of(ended, { said }))).toMatchObject({ status: "failed", message: "The turn was stopped." });
  expect(endOf(TurnRefused.of({ ...ids, code: "model_not_found" }))).toMatchObject({
    status: "refused",
    code: "model_not_found",
  });
});

test("a turn that a budget refused fails with that reason, even if the log of an older release does not name the budget", () => {
  const limit = "The budget organization has used 2 of 2 US dollars (cost_per_month).";
  const refused = { ...ids, code: "budget_exceeded" };
  expect(endOf(TurnRefused.of({ ...refused, limit }))).toEqual({
    status: "refused",
    code: "budget_exceeded",
    message: limit,
  });
  expect(endOf(TurnRefused.of(refused))).toMatchObject({ message: expect.stringContaining("GET /api/limits") });
  expect(endOf(TurnRefused.of({ ...ids, code: "unavailable" }))).toMatchObject({
    message: expect.stringContaining("temporarily unavailable"),
  });
  expect(endOf(TurnRefused.of({ ...ids, code: null }))).toMatchObject({
    message: "The model provider refused the request.",
  });
});

test("a deleted turn has failed", () => {
  const deleted = { status: "failed", message: "The turn was deleted." };
  expect(endOf(completed, TurnDeleted.of({ turn_id: ids.turn_id }))).toMatchObject(deleted);
  expect(endOf(completed, ThreadDeleted.of({}))).toMatchObject(deleted);
  expect(endOf({ ...completed, personal: undefined })).toMatchObject(deleted);
});
