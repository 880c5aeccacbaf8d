import { afterEach, expect, test } from "vitest";
import { currentTrace, recordSpans, type Attributes } from "#events/spans.ts";
import { newTrace } from "#events/trace.ts";
import { NO_USAGE } from "#events/thread.ts";
import { asking } from "#test/doubles/modelRequest.ts";
import { ModelError, type Model, type ModelEvent } from "./model.ts";
import { inSpans } from "./modelSpans.ts";

let stop = () => {};
afterEach(() => stop());

function record() {
  const ended: { name: string; attributes: Attributes; failure: string | undefined }[] = [];
  const trace = newTrace();
  stop = recordSpans((name, { attributes = {} }) => ({
    trace,
    set: (more) => Object.assign(attributes, more),
    end: (failure) => void ended.push({ name, attributes, failure }),
  }));
  return { ended, trace };
}
const signal = new AbortController().signal;
const finish: ModelEvent = {
  type: "finish",
  finish_reason: "stop",
  usage: { ...NO_USAGE, prompt_tokens: 3, completion_tokens: 2 },
};
/** Says what it is given, notes in which trace it does, and whether it was let go. */
function speaker(...said: (ModelEvent | Error)[]) {
  const seen: unknown[] = [];
  const model: Model = {
    async *complete() {
      try {
        for (const event of said) {
          seen.push(currentTrace());
          if (event instanceof Error) throw event;
          yield event;
        }
      } finally {
        seen.push("gone");
      }
    },
  };
  return { model, seen };
}
const text = (words: string): ModelEvent => ({ type: "text", text: words });

test("each piece of an answer is asked for within the span, which says what it cost and not what was said", async () => {
  const { ended, trace } = record();
  const { model, seen } = speaker(text("canary"), text("words"), finish);
  for await (const event of inSpans(model, "acme").complete(asking("canary"), signal))
    if (event.type === "finish") break;
  expect(seen).toEqual([trace, trace, trace, "gone"]);
  expect(ended).toMatchObject([
    {
      name: "chat gpt-test",
      attributes: { "gen_ai.provider.name": "acme", "gen_ai.usage.input_tokens": 3, "gen_ai.usage.output_tokens": 2 },
      failure: undefined,
    },
  ]);
  expect(JSON.stringify(ended)).not.toContain("canary");
});

test.each([
  ["by its status", new ModelError("transient", "canary", { status: 529 }), "529"],
  ["by its kind where it has none", new ModelError("cut", "canary"), "cut"],
  ["by the name of any other", new RangeError("canary"), "RangeError"],
])("a failure is told %s", async (_, error, failure) => {
  const { ended } = record();
  const { model } = speaker(text("a"), error);
  await expect(Array.fromAsync(inSpans(model, "acme").complete(asking("x"), signal))).rejects.toBe(error);
  expect(ended.map((span) => span.failure)).toEqual([failure]);
  expect(JSON.stringify(ended)).not.toContain("canary");
});

test("where nobody records, the model is as it is", async () => {
  const { model } = speaker(text("a"), finish);
  expect(await Array.fromAsync(inSpans(model, "acme").complete(asking("x"), signal))).toEqual([text("a"), finish]);
});
