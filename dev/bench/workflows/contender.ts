import type { Child } from "../tools/child.ts";
import type { Load } from "./load.ts";

/** What a run does: execute steps in sequence, start and await a run of another workflow, or wait for an event sent to it. */
export type Work = { kind: "steps"; steps: number } | { kind: "child" } | { kind: "event" };

/** A system that runs durable workflows. The steps of its runs only return their input. */
export interface Contender {
  name: "service" | "dbos";
  child: Child;
  /** Keeps runs that do this work in flight. */
  load(work: Work, inFlight: number, seconds: number): Promise<Load>;
  /** Executes one run and returns the start of each step (epoch milliseconds). */
  stepTimes(steps: number): Promise<number[]>;
  /** Adds this many runs that wait for a decision; resolves when all of them wait. */
  park(runs: number): Promise<void>;
  /** Decides one parked run and returns the milliseconds until its next step started. */
  decide(): Promise<number>;
  stop(): Promise<void>;
}
