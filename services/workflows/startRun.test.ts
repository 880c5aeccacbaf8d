import { expect, test } from "vitest";
import { newId } from "#events/ids.ts";
import { Envelope } from "#events/workflow.ts";
import { startWorkflowRun } from "./startRun.ts";

const run_as = { type: "service" as const, id: null };
const workflowWith = (rules: object) => ({
  id: newId(),
  organization_id: "o",
  project_id: null,
  definition_id: newId(),
  definition_version: 1,
  enabled: true,
  envelope: Envelope.parse({ run_as, ...rules }),
});
const START_RATE = { max_runs: 1, per_seconds: 60, key: null };

type Refuses = (runs: number, steps: string[]) => boolean;
const NEVER: Refuses = () => false;

/**
 * Starts a run that ends a live one. `taken`: whether all claims are held; `refuses`: whether budgets have no room for so many
 * runs after these steps. Returns what happened, in order.
 */
async function startInPlace({ rules = {}, taken = false, refuses = NEVER, full = undefined as object | undefined }) {
  const steps: string[] = [];
  const heads = async (names: string[]) =>
    new Map(names.flatMap((stream) => (taken ? [[stream, { stream, state: "run-other" }] as const] : [])));
  const admitRun = async (_: object, runs = 1) =>
    refuses(runs, steps)
      ? { refused: "The budget is used up." }
      : { admitted: { settle: () => {}, withdraw: () => void steps.push("withdraw") } };
  const deps = {
    log: { heads, read: async () => [] },
    handle: async () => {
      steps.push("start");
      return { position: 1, repeated: false };
    },
    worker: "w",
    scripts: async () => ({ args_schema: {} }),
    schemas: { check: async () => undefined },
    keyring: { keyedHash: (_: string, text: string) => text },
    admitRun,
    logLimits: { refusal: () => full },
  };
  const refusal = await startWorkflowRun(deps as never, workflowWith(rules), {
    run_id: newId(),
    trigger_id: null,
    started_by: { type: "schedule", id: newId() },
    run_as: null,
    args: "{}",
    commandId: (attempt) => `${attempt}`.padEnd(64, "0"),
    beforeStart: async () => void steps.push("cancel"),
  });
  return { code: refusal?.code, steps };
}

test("the live run that a start replaces is cancelled first", async () => {
  expect(await startInPlace({})).toEqual({ code: undefined, steps: ["withdraw", "cancel", "start"] });
  expect(await startInPlace({ rules: { start_rate: START_RATE } })).toMatchObject({ code: undefined });
});

test("a start that a limit refuses cancels no run", async () => {
  const limited = await startInPlace({ rules: { start_rate: START_RATE }, taken: true });
  expect(limited).toEqual({ code: "start_rate_limited", steps: [] });
  expect(await startInPlace({ refuses: () => true })).toEqual({ code: "rate_limited", steps: [] });
  const full = { code: "storage_limit_reached", message: "Its events take too much." };
  expect(await startInPlace({ full })).toEqual({ code: "storage_limit_reached", steps: [] });
});

test("the limit of live runs is checked afterwards, because the cancelled run frees its place", async () => {
  const full = await startInPlace({ rules: { concurrency: { max_runs: 1, key: null } }, taken: true });
  expect(full).toEqual({ code: "too_many_live_runs", steps: ["withdraw", "cancel"] });
});

test("the live run that a start replaces needs no second place in a budget, even while its end is not counted yet", async () => {
  let readings = 2;
  // one run at a time: two readings after its end still count the cancelled one
  const refuses: Refuses = (runs, steps) => runs > 0 && (!steps.includes("cancel") || readings-- > 0);
  expect(await startInPlace({ refuses })).toEqual({ code: undefined, steps: ["withdraw", "cancel", "start"] });
});
