import { describe, expect, test } from "vitest";
import { Prompt, PromptOrBlob, TurnStarted } from "./thread.ts";

/** A prompt that was recorded before tools existed. */
const old = {
  instructions: null,
  messages: [{ role: "user" as const, text: "Hi", attachments: [] }],
  temperature: null,
  top_p: null,
  max_output_tokens: null,
  stop: [],
  seed: null,
  response_format: { type: "text" as const },
  user: null,
  vars: {},
};
const now = { ...old, tools: [], tool_choice: "auto", knowledge: null };
const upcast = (personal: Record<string, unknown> | undefined) =>
  TurnStarted.upcasts[1]!({ data: { turn_id: "t1" }, personal });

describe("a prompt from before tools existed", () => {
  test("in an event gets no tools", () => {
    expect(upcast({ input: { prompt: old } })).toEqual({
      data: { turn_id: "t1" },
      personal: { input: { prompt: now } },
    });
  });
  test("in a blob gets no tools", () => expect(Prompt.parse(old)).toEqual(now));
  test("in a command gets no tools", () => expect(PromptOrBlob.parse({ prompt: old })).toEqual({ prompt: now }));
  test("is not changed by the upcast if it is in a blob or was erased", () => {
    expect(upcast({ input: { prompt_blob: "b" } }).personal).toEqual({ input: { prompt_blob: "b" } });
    expect(upcast(undefined).personal).toBeUndefined();
  });
});
