import { TickLost, type TickCall, type TracedCall, type WorkflowRunner } from "./tick.ts";

/** A place in the source of a script. */
export type Place = Pick<TracedCall, "line" | "column">;
const NO_PLACE: Place = { line: null, column: null };

type Runner = Pick<WorkflowRunner, "tick">;

/** The calls that `run()` makes on its next tick. Only a traced tick knows their places, because it takes longer. */
async function traceCalls(runner: Runner, { speculation: _, ...call }: TickCall): Promise<TracedCall[]> {
  try {
    return (await runner.tick({ ...call, trace: true })).calls ?? [];
  } catch (error) {
    if (error instanceof TickLost) return [];
    throw error;
  }
}

function placeIn(calls: TracedCall[], key: string): Place {
  const { line, column } = calls.find((one) => one.key === key) ?? NO_PLACE;
  return { line, column };
}

/** The place of a call that `run()` makes on its next tick. */
export const findPlace = async (runner: Runner, call: TickCall, key: string): Promise<Place> =>
  placeIn(await traceCalls(runner, call), key);

/** Finds the places of many calls with one tick: a thousand starts may be refused together. */
export function createPlaceFinder(runner: Runner, buildCall: () => TickCall): (key: string) => Promise<Place> {
  let traced: Promise<TracedCall[]> | undefined;
  return async (key) => placeIn(await (traced ??= traceCalls(runner, buildCall())), key);
}
