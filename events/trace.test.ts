import { describe, expect, test } from "vitest";
import { newTrace, parseTraceHeaders, toTraceHeaders, parseTraceId, formatTraceparent } from "./trace.ts";

const ID = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN = "00f067aa0ba902b7";
const PARENT = `00-${ID}-${SPAN}-01`;
const from = (traceparent: unknown, tracestate?: unknown) => parseTraceHeaders({ traceparent, tracestate });

describe("traceparent", () => {
  test("names a trace, a span and whether it is sampled", () => {
    expect(from(PARENT)).toEqual({ trace_id: ID, span_id: SPAN, sampled: true });
    expect(from(`00-${ID}-${SPAN}-00`)?.sampled).toBe(false);
  });

  test("of a later version is read as far as it is known", () => {
    expect(from(`01-${ID}-${SPAN}-01-what-comes`)).toEqual({ trace_id: ID, span_id: SPAN, sampled: true });
    expect(from(`cc-${ID}-${SPAN}-03`)).toEqual({ trace_id: ID, span_id: SPAN, sampled: true });
  });

  test("is formatted without flags that this version does not know", () => {
    expect(formatTraceparent(from(`00-${ID}-${SPAN}-fe`)!)).toBe(`00-${ID}-${SPAN}-00`);
    expect(formatTraceparent(from(`00-${ID}-${SPAN}-ff`)!)).toBe(PARENT);
  });

  test.each([
    ["a missing header", undefined],
    ["an empty header", ""],
    ["a list", [PARENT]],
    ["two joined headers", `${PARENT}, ${PARENT}`],
    ["the forbidden version", `ff-${ID}-${SPAN}-01`],
    ["more fields than its version has", `${PARENT}-00`],
    ["no version", `${ID}-${SPAN}-01`],
    ["upper case", `00-${ID.toUpperCase()}-${SPAN}-01`],
    ["a trace of zeros", `00-${"0".repeat(32)}-${SPAN}-01`],
    ["a span of zeros", `00-${ID}-${"0".repeat(16)}-01`],
    ["an id that is too short", `00-${ID.slice(1)}-${SPAN}-01`],
    ["an id that is too long", `00-${ID}0-${SPAN}-01`],
    ["letters beyond hexadecimal", `00-${ID.replace("4", "g")}-${SPAN}-01`],
    ["flags of one digit", `00-${ID}-${SPAN}-1`],
    ["a line feed", `00-${ID}-${SPAN}-01\n`],
    ["sixteen kilobytes", "0".repeat(16_384)],
  ])("is no trace: %s", (_, traceparent) => expect(from(traceparent)).toBeUndefined());
});

describe("tracestate", () => {
  const state = (tracestate: unknown) => from(PARENT, tracestate)?.state;

  test("is passed on without empty members and spaces", () => {
    expect(state("rojo=00f067aa0ba902b7,congo=t61rcWkgMzE")).toBe("rojo=00f067aa0ba902b7,congo=t61rcWkgMzE");
    expect(state(" a=1 ,, 0tenant@vendor=x y\t,")).toBe("a=1,0tenant@vendor=x y");
    expect(toTraceHeaders(from(PARENT, "a=1"))).toEqual({ traceparent: PARENT, tracestate: "a=1" });
  });

  test.each([
    ["a header that is too long", `a=${"x".repeat(255)},b=${"x".repeat(255)}`],
    ["sixteen kilobytes", "a=1,".repeat(4_000)],
    ["too many members", Array.from({ length: 33 }, (_, n) => `k${n}=v`).join(",")],
    ["the same key twice", "a=1,a=2"],
    ["a member without a value", "a="],
    ["a member without a key", "=1"],
    ["a member without an equals sign", "a"],
    ["a member with two values", "a=1=2"],
    ["upper case in a key", "A=1"],
    ["control characters", "a=\u0001"],
    ["letters of other alphabets", "a=ключ"],
    ["an empty header", ""],
    ["a list", ["a=1"]],
  ])("is dropped, and the trace is kept: %s", (_, tracestate) => {
    expect(from(PARENT, tracestate)).toEqual({ trace_id: ID, span_id: SPAN, sampled: true });
  });

  test("is ignored without a traceparent", () => expect(from(undefined, "a=1")).toBeUndefined());
});

test("a new trace is well formed, unique and not sampled", () => {
  const traces = Array.from({ length: 1_000 }, newTrace);
  for (const trace of traces)
    expect(parseTraceHeaders({ tracestate: undefined, ...toTraceHeaders(trace) })).toEqual(trace);
  expect(new Set(traces.flatMap(({ trace_id, span_id }) => [trace_id, span_id])).size).toBe(2_000);
  expect(traces.some(({ sampled }) => sampled)).toBe(false);
});

test("the trace id is read from a stored traceparent", () => {
  expect(parseTraceId(PARENT)).toBe(ID);
  expect(parseTraceId(undefined)).toBeNull();
  expect(toTraceHeaders(undefined)).toEqual({});
});
