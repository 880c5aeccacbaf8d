import type { RecordedRunEvent } from "./foldSteps.ts";

const RUN_ENDS = new Set<string>(["RunCompleted", "RunFailed", "RunCancelled", "RunContinued", "RunForgotten"]);
const STEP_ENDS = new Set<string>(["StepCompleted", "StepFailed", "StepAttemptFailed", "StepAttemptLost"]);

/** Follows the events of a run to find out when no more will come. */
export class RunProgress {
  readonly #running = new Set<string>();
  #isOver = false;

  apply({ type, data }: Pick<RecordedRunEvent, "type" | "data">): void {
    if (RUN_ENDS.has(type)) this.#isOver = true;
    else if (type === "StepStarted") this.#running.add((data as { key: string }).key);
    else if (STEP_ENDS.has(type)) this.#running.delete((data as { key: string }).key);
  }
  /** Whether the run has ended. Running steps are not interrupted, so events of them may follow. */
  get isOver(): boolean {
    return this.#isOver;
  }
  /** Whether the run has ended and no step is running. */
  get isQuiet(): boolean {
    return this.#isOver && this.#running.size === 0;
  }
}
