import { expect, test } from "vitest";
import type { StreamHead } from "#events/ports.ts";
import { currentTrace, withTrace } from "#events/spans.ts";
import { newTrace, toTraceHeaders } from "#events/trace.ts";
import type { Db } from "#projections/projection.ts";
import { withStreamTrace } from "./streamTrace.ts";

/** A database with streams that started in some trace or none, and the look-ups made in it. */
function databaseWith(traces: Record<string, object>) {
  const lookups: string[][] = [];
  const query = async (_sql: string, [streams]: [string[]]) => {
    lookups.push(streams);
    return Object.entries(traces)
      .filter(([stream]) => streams.includes(stream))
      .map(([stream, traced]) => ({
        stream,
        meta: JSON.stringify({ principal: "system", request_id: "r", ...traced }),
      }));
  };
  return { db: { query } as unknown as Db, lookups };
}
const head = (stream: string) => ({ stream }) as StreamHead;

test("recovered work continues in the trace that its stream started in, and lookups at the same time share one query", async () => {
  const [one, other] = [newTrace(), newTrace()];
  const { db, lookups } = databaseWith({ "run-1": toTraceHeaders(one), "run-2": toTraceHeaders(other), "run-3": {} });
  const found = new Map<string, unknown>();
  const resumeWork = withStreamTrace(db)(async ({ stream }) => void found.set(stream, currentTrace()));
  await Promise.all(["run-1", "run-2", "run-3", "run-4"].map((stream) => resumeWork(head(stream))));
  expect(found).toEqual(
    new Map([
      ["run-1", one],
      ["run-2", other],
      ["run-3", undefined],
      ["run-4", undefined],
    ]),
  );
  expect(lookups).toHaveLength(1);
});

test("work that an event starts stays in the trace of the event, without a lookup", async () => {
  const trace = newTrace();
  const { db, lookups } = databaseWith({ "run-1": toTraceHeaders(newTrace()) });
  let found: unknown;
  const resumeWork = withStreamTrace(db)(async () => void (found = currentTrace()));
  await withTrace(trace, () => resumeWork(head("run-1")));
  expect([found, lookups]).toEqual([trace, []]);
});
