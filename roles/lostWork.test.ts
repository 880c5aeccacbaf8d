import { expect, test } from "vitest";
import type { StreamHead } from "#events/ports.ts";
import { currentTrace, withTrace } from "#events/spans.ts";
import { newTrace, tracedBy } from "#events/trace.ts";
import type { Db } from "#projections/projection.ts";
import { inTraceOfStream } from "./lostWork.ts";

/** A log of streams that began in some trace, or in none, and what was looked up in it. */
function logOf(traces: Record<string, object>) {
  const asked: string[][] = [];
  const query = async (_sql: string, [streams]: [string[]]) => {
    asked.push(streams);
    return Object.entries(traces)
      .filter(([stream]) => streams.includes(stream))
      .map(([stream, traced]) => ({
        stream,
        meta: JSON.stringify({ principal: "system", request_id: "r", ...traced }),
      }));
  };
  return { db: { query } as unknown as Db, asked };
}
const head = (stream: string) => ({ stream }) as StreamHead;

test("lost work goes on in the trace that its stream began in, and looks of one moment are one query", async () => {
  const [one, other] = [newTrace(), newTrace()];
  const { db, asked } = logOf({ "run-1": tracedBy(one), "run-2": tracedBy(other), "run-3": {} });
  const found = new Map<string, unknown>();
  const attend = inTraceOfStream(db)(async ({ stream }) => void found.set(stream, currentTrace()));
  await Promise.all(["run-1", "run-2", "run-3", "run-4"].map((stream) => attend(head(stream))));
  expect(found).toEqual(
    new Map([
      ["run-1", one],
      ["run-2", other],
      ["run-3", undefined],
      ["run-4", undefined],
    ]),
  );
  expect(asked).toHaveLength(1);
});

test("what an event woke is in the trace of that event, and nothing is looked up", async () => {
  const woken = newTrace();
  const { db, asked } = logOf({ "run-1": tracedBy(newTrace()) });
  let found: unknown;
  const attend = inTraceOfStream(db)(async () => void (found = currentTrace()));
  await withTrace(woken, () => attend(head("run-1")));
  expect([found, asked]).toEqual([woken, []]);
});
