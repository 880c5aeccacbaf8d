import { describe, expect, it } from "vitest";
import type { RecordedRunEvent } from "./foldSteps.ts";
import { RunProgress } from "./runProgress.ts";

const progressAfter = (...events: [type: string, key?: string][]) => {
  const progress = new RunProgress();
  for (const [type, key] of events) progress.apply({ type, data: { key } } as unknown as RecordedRunEvent);
  return [progress.isOver, progress.isQuiet];
};

describe("the progress of a run", () => {
  it.each<[string, [string, string?][], [isOver: boolean, isQuiet: boolean]]>([
    ["is live before its end", [["RunCreated"], ["StepStarted", "a"]], [false, false]],
    ["is over and quiet at its end without running steps", [["RunCompleted"]], [true, true]],
    ["is over but not quiet while a step runs on", [["StepStarted", "a"], ["RunCancelled"]], [true, false]],
    [
      "is quiet once the last running step has ended, however it ended",
      [
        ["StepStarted", "a"],
        ["StepStarted", "b"],
        ["StepStarted", "c"],
        ["RunFailed"],
        ["StepCompleted", "a"],
        ["StepAttemptLost", "b"],
        ["StepAttemptFailed", "c"],
      ],
      [true, true],
    ],
    ["is over when the run is erased", [["RunForgotten"]], [true, true]],
  ])("%s", (_, events, expected) => expect(progressAfter(...events)).toEqual(expected));
});
