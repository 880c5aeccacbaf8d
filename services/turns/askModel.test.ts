import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { NO_USAGE } from "#events/thread.ts";
import { AnswerInterrupted, askModel, askOnce } from "./askModel.ts";
import { modelRequest } from "#test/doubles/modelRequest.ts";
import { ModelError, type Model } from "./model.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const MINUTE = 60_000;
/** Sends a word after each of these pauses, in minutes, then nothing more. */
const pausingModel = (...minutes: number[]): Model => ({
  async *complete(_, signal) {
    for (const each of [...minutes, Infinity]) {
      await new Promise<void>((resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
        if (each !== Infinity) setTimeout(resolve, each * MINUTE);
      });
      yield { type: "text", text: `${each} ` };
    }
    yield { type: "finish", finish_reason: "stop", usage: NO_USAGE };
  },
});
const live = (): AbortSignal => new AbortController().signal;
const ask = (streamed: boolean, model: Model, signal = live()) =>
  askModel(
    model,
    modelRequest("", { streamed }),
    signal,
    () => {},
    { count: () => {}, take: () => true },
    async () => {},
  ).catch((error: unknown) => error as AnswerInterrupted);

test("a model stream that is silent for 30 minutes is interrupted, and keeps its text", async () => {
  const answer = ask(true, pausingModel(29, 29));
  await vi.advanceTimersByTimeAsync((29 + 29 + 30) * MINUTE);
  expect(await answer).toMatchObject({
    name: "AnswerInterrupted",
    output: { text: "29 29 " },
    cause: { kind: "refused", message: expect.stringContaining("30 minutes") },
  });
});

test("a provider that stays silent from the start is not asked again", async () => {
  const model = { complete: vi.fn<Model["complete"]>(pausingModel().complete) };
  const answer = ask(true, model);
  await vi.advanceTimersByTimeAsync(30 * MINUTE);
  expect(await answer).toBeInstanceOf(AnswerInterrupted);
  expect(model.complete).toHaveBeenCalledOnce();
});

test("a buffered model request may be silent until its turn ends", async () => {
  const turn = new AbortController();
  const answer = ask(false, pausingModel(50), turn.signal);
  await vi.advanceTimersByTimeAsync(55 * MINUTE);
  turn.abort("late");
  expect(await answer).toMatchObject({ output: { text: "50 " }, cause: "late" });
});

test("a model that writes a long tool call is not silent", async () => {
  const calling: Model = {
    async *complete(_, signal) {
      for (let n = 0; n < 5; n++) {
        await new Promise<void>((resolve) => void setTimeout(resolve, 600));
        signal.throwIfAborted();
        yield { type: "progress" };
      }
      yield { type: "tool_calls", calls: [{ id: "a", name: "write", arguments: "{}" }] };
      yield { type: "finish", finish_reason: "tool_calls", usage: NO_USAGE };
    },
  };
  const frames: unknown[] = [];
  const answer = askOnce(calling, modelRequest("", { streamed: true }), live(), (frame) => frames.push(frame), 1_000);
  await vi.advanceTimersByTimeAsync(5 * 600);
  expect(await answer).toMatchObject({ calls: [{ name: "write" }], finish_reason: "tool_calls" });
  expect(frames).toEqual([]);
});

test("an answer that changes between text and reasoning ten thousand times is cut, and one with as many words is not", async () => {
  const speaking = (types: readonly ("text" | "reasoning")[]): Model => ({
    async *complete() {
      for (let n = 0; n < 20_000; n++) yield { type: types[n % types.length]!, text: "." };
      yield { type: "finish", finish_reason: "stop", usage: NO_USAGE };
    },
  });
  let frames = 0;
  const onFrame = () => void frames++;
  const alternating = speaking(["text", "reasoning"]);
  const cut = await askOnce(alternating, modelRequest(""), live(), onFrame).catch((error: unknown) => error);
  expect(cut).toMatchObject({
    name: "AnswerInterrupted",
    output: { text: ".".repeat(5_000), reasoning: ".".repeat(5_000) },
    cause: { kind: "cut", message: expect.stringContaining("10000 times") },
  });
  expect(frames).toBe(10_000);
  const whole = await askOnce(speaking(["text"]), modelRequest(""), live(), () => {});
  expect(whole.output.text).toHaveLength(20_000);
});

test("a request is neither sent nor charged if its turn was stopped before", async () => {
  const model = { complete: vi.fn<Model["complete"]>(pausingModel().complete) };
  const answer = await ask(true, model, AbortSignal.abort("stopped"));
  expect(answer).toMatchObject({ name: "AnswerInterrupted", cause: "stopped", unreported: undefined });
  expect(model.complete).not.toHaveBeenCalled();
});

test("an interrupted answer names its request when the provider was working on it, and not when it could not be reached", async () => {
  const stopped = new AbortController();
  const silent = ask(false, pausingModel(), stopped.signal);
  await vi.advanceTimersByTimeAsync(MINUTE);
  stopped.abort("stopped");
  expect(await silent).toMatchObject({ output: { text: "" }, unreported: { request: { streamed: false } } });
  const firstWord = askOnce(pausingModel(), modelRequest("", { streamed: true }), live(), () => {}, 1_000);
  const tooLate = firstWord.catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await tooLate).toMatchObject({
    cause: { message: "The model said nothing for 1 s." },
    unreported: { request: { streamed: true } },
  });
  const away: Model = {
    // eslint-disable-next-line require-yield
    async *complete() {
      throw new ModelError("refused", "No connection.");
    },
  };
  expect(await ask(true, away)).toMatchObject({ cause: { kind: "refused" }, unreported: undefined });
});
