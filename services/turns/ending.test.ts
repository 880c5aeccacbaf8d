import { expect, test } from "vitest";
import { FailTurn, NO_OUTPUT, NO_USAGE, RefuseTurn } from "#events/thread.ts";
import { Unavailable } from "#events/ports.ts";
import { modelRequest } from "#test/doubles/modelRequest.ts";
import { AnswerInterrupted } from "./askModel.ts";
import type { Estimate } from "./askTargets.ts";
import { endInterrupted } from "./ending.ts";
import { estimateUsage } from "./estimateUsage.ts";
import { ModelError } from "./model.ts";

const counter = { countTokens: async () => 7, countPrompt: async () => 90_000 };
const estimate: Estimate = (unreported) => estimateUsage(counter, unreported);
const unanswered = { estimate, rounds: [], of_agent: false, reason: undefined };

test("a turn whose worker cannot read its data is refused as unavailable, without blame on a model", async () => {
  const away = new Unavailable("The database answers with the error 53200.", { retry_after_ms: 2_000 });
  const { command, data, end } = await endInterrupted(away, unanswered);
  const message = "The service was temporarily unavailable; try again shortly.";
  expect(command).toBe(RefuseTurn);
  expect(data).toEqual({ code: "unavailable", message });
  expect(end).toEqual({ status: "refused", code: "unavailable", message, retry_after_ms: 2_000 });
});

test("a turn that the provider refuses has its message, no code, and the time that a 429 names", async () => {
  const busy = new ModelError("refused", "Too many requests.", { status: 429, retry_after_ms: 5_000 });
  const { end } = await endInterrupted(busy, unanswered);
  expect(end).toEqual({ status: "refused", code: null, message: "Too many requests.", retry_after_ms: 5_000 });
});

test("a turn whose model is down is refused with the time at which it is asked again, and one of another error without", async () => {
  const refusalOf = async (options: object) => {
    const cause = new ModelError("transient", "It is down.", { retry_after_ms: 5_000, ...options });
    return (await endInterrupted(new AnswerInterrupted(NO_OUTPUT, cause), unanswered)).end;
  };
  expect(await refusalOf({})).toMatchObject({ status: "refused", retry_after_ms: 5_000 });
  expect(await refusalOf({ status: 503 })).not.toHaveProperty("retry_after_ms");
});

test.each([
  ["after some words", "Well", new AnswerInterrupted({ ...NO_OUTPUT, text: "Well" }, "stopped", modelRequest("Go on"))],
  ["before its first word", "", new AnswerInterrupted(NO_OUTPUT, "stopped", modelRequest("Go on"))],
])("a turn that is stopped %s counts all that its provider was sent", async (_, text, interrupted) => {
  const { data } = await endInterrupted(interrupted, { ...unanswered, reason: "stopped" });
  expect(data).toMatchObject({ said: { text }, usage: { prompt_tokens: 90_000, completion_tokens: 7 } });
});

test("a turn that no provider worked on counts nothing", async () => {
  const refused = new AnswerInterrupted(NO_OUTPUT, new ModelError("transient", "No connection."));
  const { data } = await endInterrupted(refused, { ...unanswered, of_agent: true });
  expect(data).toMatchObject({ usage: NO_USAGE });
});

test("a turn whose time ends before its provider sends a word costs money, so it fails and counts", async () => {
  const late = new AnswerInterrupted(NO_OUTPUT, "late", modelRequest("Go on"));
  const { command, data } = await endInterrupted(late, { ...unanswered, reason: "late" });
  expect([command, data]).toEqual([
    FailTurn,
    expect.objectContaining({ usage: expect.objectContaining({ prompt_tokens: 90_000 }) }),
  ]);
});
