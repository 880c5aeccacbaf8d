import fc from "fast-check";
import type { ClientRequest } from "./client.ts";
import { MODEL_BEHAVIOURS } from "./model.ts";
import type { Rates } from "./world.ts";

/** After this time no faults occur. */
export const FAULTS_MS = 30_000;
export const NODES = 3;

/** A fault of one process. */
export interface PlannedFault {
  at: number;
  node: number;
  kind: "crash" | "stall";
  /** How long it is down or stopped. */
  ms: number;
}

/** Everything that determines a run. */
export interface Plan {
  /** Seed of delays, losses and receivers. */
  course: number;
  requests: ClientRequest[];
  faults: PlannedFault[];
  rates: Rates;
  noRoom: number;
  /** How far each node's clock is ahead, in milliseconds. */
  skews: number[];
}

const milliseconds = (min: number, max: number) => fc.integer({ min, max });
const rate = (most: number) => fc.constantFrom(0, most / 10, most);

const request: fc.Arbitrary<ClientRequest> = fc.record({
  at: milliseconds(0, 20_000),
  thread: fc.integer({ min: 0, max: 1 }),
  want: fc.constantFrom("turn", "turn", "turn", "turn", "turn", "turn", "turn", "delete"),
  behaviour: fc.constantFrom(...MODEL_BEHAVIOURS),
  leaves: fc.option(milliseconds(0, 8_000)),
  again: fc.option(milliseconds(0, 10_000)),
});

const fault: fc.Arbitrary<PlannedFault> = fc.record({
  at: milliseconds(0, FAULTS_MS),
  node: fc.integer({ min: 0, max: NODES - 1 }),
  kind: fc.constantFrom("crash", "stall"),
  ms: fc.oneof(milliseconds(100, 5_000), milliseconds(10_000, 18_000)),
});

export const plans: fc.Arbitrary<Plan> = fc.record({
  course: fc.integer({ min: 0, max: 2 ** 31 - 1 }),
  requests: fc.array(request, { minLength: 2, maxLength: 8 }),
  faults: fc.array(fault, { maxLength: 5 }),
  rates: fc.record({ drop: rate(0.2), duplicate: rate(0.3), slow: rate(0.1), crash: rate(0.01) }),
  noRoom: rate(0.3),
  skews: fc.array(milliseconds(-3_000, 3_000), { minLength: NODES, maxLength: NODES }),
});
