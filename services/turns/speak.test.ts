import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { NO_USAGE } from "#events/thread.ts";
import type { Model, ModelRequest } from "./model.ts";
import { BrokenOff, speak } from "./speak.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const MINUTE = 60_000;
const request = (streamed: boolean): ModelRequest => ({
  model: "m",
  instructions: null,
  messages: [],
  tools: [],
  tool_choice: "auto",
  temperature: null,
  top_p: null,
  max_output_tokens: null,
  stop: [],
  seed: null,
  response_format: { type: "text" },
  user: null,
  reasoning_effort: null,
  streamed,
});

/** Says a word after each of these pauses, in minutes, and then no more. */
const pausing = (...minutes: number[]): Model => ({
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
const spoken = (streamed: boolean, model: Model, signal = new AbortController().signal) =>
  speak(model, request(streamed), signal, () => {}).catch((error: unknown) => error as BrokenOff);

test("a stream that says nothing for long has ended, however long it has spoken before", async () => {
  const speaking = spoken(true, pausing(29, 29));
  await vi.advanceTimersByTimeAsync((29 + 29 + 30) * MINUTE);
  expect(await speaking).toMatchObject({
    name: "BrokenOff",
    said: { text: "29 29 " },
    cause: { kind: "refused", message: expect.stringContaining("30 minutes") },
  });
});

test("a provider that never begins is not asked again", async () => {
  const model = { complete: vi.fn<Model["complete"]>(pausing().complete) };
  const speaking = spoken(true, model);
  await vi.advanceTimersByTimeAsync(30 * MINUTE);
  expect(await speaking).toBeInstanceOf(BrokenOff);
  expect(model.complete).toHaveBeenCalledOnce();
});

test("what is waited for whole has the time of its turn", async () => {
  const turn = new AbortController();
  const speaking = spoken(false, pausing(50), turn.signal);
  await vi.advanceTimersByTimeAsync(55 * MINUTE);
  turn.abort("late");
  expect(await speaking).toMatchObject({ said: { text: "50 " }, cause: "late" });
});
