import { TickLost, type TickCall, type TracedCall, type WorkflowRunner } from "./tick.ts";

/** A place in the source of a script. */
export type Place = Pick<TracedCall, "line" | "column">;
const NO_PLACE: Place = { line: null, column: null };

/** The place of a call that `run()` makes on its next tick. Only a traced tick knows places, because it takes longer. */
export async function findPlace(
  runner: Pick<WorkflowRunner, "tick">,
  { speculation: _, ...call }: TickCall,
  key: string,
): Promise<Place> {
  try {
    const { calls = [] } = await runner.tick({ ...call, trace: true });
    const { line, column } = calls.find((one) => one.key === key) ?? NO_PLACE;
    return { line, column };
  } catch (error) {
    if (error instanceof TickLost) return NO_PLACE;
    throw error;
  }
}
