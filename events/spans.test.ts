import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { currentTrace, inSpan, openSpan, setSpanRecorder, withTrace, type Attributes } from "./spans.ts";
import { newTrace } from "./trace.ts";

let stop = () => {};
afterEach(() => stop());

/** Records every span. */
function recorded() {
  const spans: { name: string; parent: string | undefined; id: string; attributes: Attributes; failure?: string }[] =
    [];
  stop = setSpanRecorder((name, { attributes = {} }, parent) => {
    const trace = { ...newTrace(), trace_id: parent?.trace_id ?? "new" };
    const span: (typeof spans)[number] = { name, parent: parent?.span_id, id: trace.span_id, attributes };
    return {
      trace,
      set: (more) => Object.assign(span.attributes, more),
      end: (failure) => void spans.push(failure === undefined ? span : { ...span, failure }),
    };
  });
  return spans;
}

test("a trace follows the asynchronous work that started in it, and no other work", async () => {
  const [one, other] = [newTrace(), newTrace()];
  const seen = await Promise.all([
    withTrace(one, async () => {
      await sleep(2);
      return withTrace(undefined, () => sleep(1).then(currentTrace));
    }),
    withTrace(other, () => sleep(1).then(currentTrace)),
    sleep(1).then(currentTrace),
  ]);
  expect(seen).toEqual([undefined, other, undefined]);
});

test("without a recorder work runs without a span", async () => {
  const trace = newTrace();
  const note = { a: 1 };
  const done = await withTrace(trace, () => inSpan("s", {}, async (set) => (set(note), currentTrace())));
  expect(done).toBe(trace);
  expect(openSpan("s", {})).toBeUndefined();
});

test("nested spans have their parents and their noted attributes", async () => {
  const spans = recorded();
  const trace = newTrace();
  await withTrace(trace, () =>
    inSpan("outer", { attributes: { a: 1 } }, async (note) => {
      await inSpan("inner", {}, () => sleep(1));
      note({ b: 2 });
    }),
  );
  const [inner, outer] = spans;
  expect(outer).toMatchObject({ name: "outer", parent: trace.span_id, attributes: { a: 1, b: 2 } });
  expect(inner).toMatchObject({ name: "inner", parent: outer!.id });
});

test("a failed span records the name of the error and never its message", async () => {
  const spans = recorded();
  const failing = inSpan("s", {}, async () => {
    throw new TypeError("secret words");
  });
  await expect(failing).rejects.toThrow("secret words");
  expect(spans).toMatchObject([{ name: "s", failure: "TypeError" }]);
  expect(JSON.stringify(spans)).not.toContain("secret");
});
