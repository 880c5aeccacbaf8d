import { describe, expect, it } from "vitest";
import { stepId } from "#events/ids.ts";
import { formatFrames } from "./eventMessages.ts";
import type { RecordedRunEvent } from "./foldSteps.ts";

const RUN = "0198c0de-0000-7000-8000-00000000000a";
const STEP = { run_id: RUN, key: "k", name: "pay", attempt: 2 };
const about = { step_id: stepId(RUN, "k"), step: "pay", attempt: 2 };
const OPENED = { opened: true };

async function messages(type: string, data: object, personal?: object) {
  const event = { type, data: { run_id: RUN, ...data }, personal, version: 7, recorded_at: new Date(0) };
  const frames = await formatFrames(event as unknown as RecordedRunEvent, async () => OPENED);
  return frames
    .split("\n\n")
    .filter((frame) => frame !== "")
    .map((frame) => {
      const [, id, name, json] = /^(?:id: (\d+)\n)?event: (.+)\ndata: (.+)$/.exec(frame)!;
      const { run_id, at, ...rest } = JSON.parse(json!);
      expect([run_id, at]).toEqual([RUN, "1970-01-01T00:00:00.000Z"]);
      return [id, name, rest];
    });
}

describe("the SSE frames of a run's event", () => {
  it.each<[string, object, object | undefined, unknown[]]>([
    ["RunCreated", {}, undefined, [["7", "run.created", {}]]],
    ["RunParked", {}, undefined, []],
    [
      "RunCompleted",
      { completion: "explicit" },
      { result: { blob: "b", bytes: 9 } },
      [["7", "run.completed", { completion: "explicit", result: OPENED }]],
    ],
    ["RunFailed", { code: "c", step: null }, undefined, [["7", "run.failed", { error: null, code: "c", step: null }]]],
    ["StepAttemptLost", STEP, undefined, [["7", "step.lost", about]]],
    [
      "StepsScheduled",
      { steps: ["a", "b"].map((key, index) => ({ key, name: "pay", batch: "a", index })) },
      undefined,
      [
        [undefined, "step.scheduled", { step_id: stepId(RUN, "a"), step: "pay", batch: "a", index: 0 }],
        ["7", "step.scheduled", { step_id: stepId(RUN, "b"), step: "pay", batch: "a", index: 1 }],
      ],
    ],
  ])("are right for %s", async (type, data, personal, expected) =>
    expect(await messages(type, data, personal)).toEqual(expected),
  );

  it("have the logs of an attempt before its end, and the id on the last frame only", async () => {
    const personal = { logs: ["a line"], result: { json: "1" } };
    expect(await messages("StepCompleted", { ...STEP, duration_ms: 5 }, personal)).toEqual([
      [undefined, "step.log", { ...about, logs: ["a line"] }],
      ["7", "step.completed", { ...about, duration_ms: 5, result: OPENED }],
    ]);
  });

  it("leave out a step's result that is stored as a blob", async () => {
    const personal = { logs: [], result: { blob: "b", bytes: 9 } };
    expect(await messages("StepCompleted", { ...STEP, duration_ms: 5 }, personal)).toEqual([
      ["7", "step.completed", { ...about, duration_ms: 5 }],
    ]);
  });
});
