import { expect, test } from "vitest";
import { createPlaceFinder, findPlace } from "./findPlace.ts";
import { TickLost, type TickCall } from "./tick.ts";

const CALL = { run_id: "r", speculation: {} } as unknown as TickCall;
const CALLS = [
  { key: "a", line: 3, column: 7 },
  { key: "b", line: 4, column: 9 },
];

/** A runner whose ticks make CALLS, and the calls of its ticks. */
function openRunner() {
  const ticks: TickCall[] = [];
  const tick = async (call: TickCall) => {
    ticks.push(call);
    return { calls: CALLS } as never;
  };
  return { ticks, tick };
}

test("the place of a call comes from a traced tick, which executes no step", async () => {
  const runner = openRunner();
  expect(await findPlace(runner, CALL, "b")).toEqual({ line: 4, column: 9 });
  expect(runner.ticks).toEqual([{ run_id: "r", trace: true }]);
  expect(await findPlace(runner, CALL, "c")).toEqual({ line: null, column: null });
});

test("calls that are refused together are found with one tick", async () => {
  const runner = openRunner();
  const placeOf = createPlaceFinder(runner, () => CALL);
  expect(runner.ticks).toEqual([]);
  expect(await Promise.all(["a", "b", "c"].map(placeOf))).toEqual([
    { line: 3, column: 7 },
    { line: 4, column: 9 },
    { line: null, column: null },
  ]);
  expect(runner.ticks).toHaveLength(1);
});

test("a call has no place if its tick is lost", async () => {
  const runner = { tick: () => Promise.reject(new TickLost("lost")) };
  expect(await findPlace(runner, CALL, "a")).toEqual({ line: null, column: null });
});
