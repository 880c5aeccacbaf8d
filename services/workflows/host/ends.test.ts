import { expect, test } from "vitest";
import type { Recorded } from "#events/envelope.ts";
import {
  NO_USAGE,
  ThreadDeleted,
  TurnCompleted,
  TurnDeleted,
  TurnFailed,
  TurnRefused,
  TurnStopped,
} from "#events/thread.ts";
import { endIn } from "./ends.ts";

const said = { text: "Said", reasoning: "", citations: [] };
const ids = { turn_id: "0198f000-0000-7000-8000-000000000001", attempt: 1 };
const ended = { ...ids, usage: NO_USAGE, model: "offline/echo" };
const started = { type: "TurnStarted", data: ids };
const completed = TurnCompleted.of({ ...ended, finish_reason: "stop" }, { said });
const endOf = (...events: object[]) => endIn([started, ...events] as Recorded[], ids.turn_id);

test("a turn that runs has no end, whatever others in its thread do", () => {
  expect(endOf()).toBeUndefined();
  expect(endIn([], ids.turn_id)).toBeUndefined();
  const others = { ...completed, data: { ...completed.data, turn_id: "0198f000-0000-7000-8000-000000000002" } };
  expect(endOf(others)).toBeUndefined();
  expect(endOf(completed, { ...started, data: { ...ids, turn_id: "another" } })).toMatchObject({ status: "completed" });
});

test("an end is told as its last frame tells it", () => {
  expect(endOf(completed)).toEqual({ status: "completed", said, finish_reason: "stop", usage: NO_USAGE });
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

test("what was deleted has failed", () => {
  const deleted = { status: "failed", message: "The turn was deleted." };
  expect(endOf(completed, TurnDeleted.of({ turn_id: ids.turn_id }))).toMatchObject(deleted);
  expect(endOf(completed, ThreadDeleted.of({}))).toMatchObject(deleted);
  expect(endOf({ ...completed, personal: undefined })).toMatchObject(deleted);
});
