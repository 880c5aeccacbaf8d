import type { Child } from "../tools/child.ts";
import type { Load } from "./load.ts";

/** Something that runs durable workflows: a run's steps do nothing but return what they were given. */
export interface Party {
  name: "service" | "dbos";
  child: Child;
  /** Runs of so many steps, one after another. */
  load(steps: number, inFlight: number, seconds: number): Promise<Load>;
  /** One run of so many steps; answers when each of them began (epoch milliseconds). */
  stepTimes(steps: number): Promise<number[]>;
  /** So many runs more that wait for a person; settles when they all do. */
  park(runs: number): Promise<void>;
  /** Decides one parked run; answers the milliseconds until its next step began. */
  decide(): Promise<number>;
  stop(): Promise<void>;
}
