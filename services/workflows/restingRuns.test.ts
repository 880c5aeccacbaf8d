import { expect, test } from "vitest";
import { RunStarted, StepCompleted } from "#events/run.ts";
import { AT, CREATED, keyOf, openMemoryLog, RUN_ID, scheduledAndBegun } from "#test/doubles/runInMemory.ts";
import { fromLog } from "./openRun.ts";
import { createRestingRuns } from "./restingRuns.ts";

const KEY = keyOf("a");
const LIMITS = { total: 1_000, perTenant: 250 };

/** A run in memory with one result of about so many characters. */
async function runOf(organization_id: string, stream: string, size: number) {
  const { deps } = openMemoryLog(
    CREATED,
    RunStarted.of({ run_id: RUN_ID, at: AT }),
    ...scheduledAndBegun(KEY),
    StepCompleted.of(
      { run_id: RUN_ID, key: KEY, name: "work", attempt: 1, at: AT, duration_ms: 1, secrets: [] },
      { result: { json: "1".repeat(size) }, logs: [] },
    ),
  );
  return fromLog(deps, { stream, organization_id });
}

function stage() {
  const forgotten: string[] = [];
  const deps = { ...openMemoryLog(CREATED).deps, runner: { forget: (id: string) => void forgotten.push(id) } };
  return { resting: createRestingRuns(deps, LIMITS), forgotten };
}

test("an organization's resting runs hold its share of memory at most, and the oldest go first", async () => {
  const { resting, forgotten } = stage();
  resting.keep(await runOf("other", "run-0", 200));
  for (const n of [1, 2, 3]) resting.keep(await runOf("one", `run-${n}`, 100));
  const kept = ["run-0", "run-1", "run-2", "run-3"].filter((stream) => resting.get(stream));
  expect(kept).toEqual(["run-0", "run-2", "run-3"]);
  expect(forgotten).toHaveLength(1);
});

test("a run that is larger than the share is not kept, and is read again", async () => {
  const { resting } = stage();
  resting.keep(await runOf("one", "run-1", 300));
  expect(resting.get("run-1")).toBeUndefined();
  resting.keep(await runOf("one", "run-2", 240));
  resting.drop("run-2");
  resting.keep(await runOf("one", "run-3", 240));
  expect(resting.get("run-3")).toBeDefined();
});
