import { afterEach, expect, test } from "vitest";
import { currentTrace, setSpanRecorder, type Attributes } from "#events/spans.ts";
import { newTrace } from "#events/trace.ts";
import { NO_USAGE } from "#events/thread.ts";
import { modelRequest } from "#test/doubles/modelRequest.ts";
import { ModelError, type Model, type ModelEvent } from "./model.ts";
import { withModelSpans } from "./modelSpans.ts";

let stop = () => {};
afterEach(() => stop());

function record() {
  const ended: { name: string; attributes: Attributes; failure: string | undefined }[] = [];
  const trace = newTrace();
  stop = setSpanRecorder((name, { attributes = {} }) => ({
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
  usage: { ...NO_USAGE, prompt_tokens: 3, completion_tokens: 2, cached_tokens: 1 },
};
/** A model that sends these events; `seen` gets the trace of each, then "closed". */
function openModel(...events: (ModelEvent | Error)[]) {
  const seen: unknown[] = [];
  const model: Model = {
    async *complete() {
      try {
        for (const event of events) {
          seen.push(currentTrace());
          if (event instanceof Error) throw event;
          yield event;
        }
      } finally {
        seen.push("closed");
      }
    },
  };
  return { model, seen };
}
const text = (words: string): ModelEvent => ({ type: "text", text: words });

test("a model span covers every event of an answer and records its usage, but no text", async () => {
  const { ended, trace } = record();
  const { model, seen } = openModel(text("canary"), text("words"), finish);
  for await (const event of withModelSpans(model, "acme").complete(modelRequest("canary"), signal))
    if (event.type === "finish") break;
  expect(seen).toEqual([trace, trace, trace, "closed"]);
  expect(ended).toMatchObject([
    {
      name: "chat gpt-test",
      attributes: {
        "gen_ai.provider.name": "acme",
        "gen_ai.usage.input_tokens": 3,
        "gen_ai.usage.output_tokens": 2,
        "gen_ai.usage.cache_read.input_tokens": 1,
        "gen_ai.usage.cache_creation.input_tokens": 0,
      },
      failure: undefined,
    },
  ]);
  expect(JSON.stringify(ended)).not.toContain("canary");
});

test.each([
  ["by the status of the provider", new ModelError("transient", "canary", { status: 529 }), "529"],
  ["by its kind when it has no status", new ModelError("cut", "canary"), "cut"],
  ["by the name of any other error", new RangeError("canary"), "RangeError"],
])("a model span names a failure %s", async (_, error, failure) => {
  const { ended } = record();
  const { model } = openModel(text("a"), error);
  await expect(Array.fromAsync(withModelSpans(model, "acme").complete(modelRequest("x"), signal))).rejects.toBe(error);
  expect(ended.map((span) => span.failure)).toEqual([failure]);
  expect(JSON.stringify(ended)).not.toContain("canary");
});

test("without a span recorder, the model works unchanged", async () => {
  const { model } = openModel(text("a"), finish);
  expect(await Array.fromAsync(withModelSpans(model, "acme").complete(modelRequest("x"), signal))).toEqual([
    text("a"),
    finish,
  ]);
});
