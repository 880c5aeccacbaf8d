/* Closes what tests opened. `setup.ts` runs the steps. A hook in a shared module would run only for the first test file of a worker. */

type Step = () => unknown;

const steps: Record<"test" | "file", Step[]> = { test: [], file: [] };

// A worker does not notice that its run was interrupted. The delay lets other modules stop their child processes on this event. Tests
// may replace the timer later.
const later = setTimeout;
const endWorker = () => process.kill(process.pid, "SIGKILL");
process.once("disconnect", () => later(endWorker, 100).unref());

/** Longer than any test file takes to open what its tests use. */
const MAX_START_MS = 300_000;
let starting: NodeJS.Timeout | undefined;
/** Ends the worker when a test file does not start: Vitest limits tests and hooks, not the statements of a module. Returns what ends the wait. */
export function limitStart(): () => void {
  const stop = () => clearTimeout(starting);
  stop();
  starting = later(() => {
    console.error(`A test file did not start within ${MAX_START_MS / 60_000} minutes`);
    endWorker();
  }, MAX_START_MS).unref();
  return stop;
}

/** Runs a step when the current test has ended, before the steps that were added earlier. */
export const afterTest = (step: Step): void => void steps.test.push(step);
/** Runs a step when the test file has ended, before the steps that were added earlier. Hooks and tests may call it too. */
export const afterFile = (step: Step): void => void steps.file.push(step);

/** When something ends: with the test file, or with the run of all tests, whose servers are then stopped or cleared. */
export type Lifetime = "file" | "run";
/** Runs a step at the end of a lifetime. `services.ts` clears what lives as long as the run. */
export const atEnd = (lifetime: Lifetime, step: Step): void => {
  if (lifetime === "file") afterFile(step);
};

/** Runs all steps, then throws what failed. */
export async function cleanUp(scope: keyof typeof steps): Promise<void> {
  const errors: unknown[] = [];
  for (let step = steps[scope].pop(); step; step = steps[scope].pop()) {
    try {
      await step();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw new AggregateError(errors, "the clean-up failed");
}
