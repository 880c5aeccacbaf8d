import { beforeEach, describe, expect, test } from "vitest";
import { idempotencyKey } from "#events/ids.ts";
import { newScenario } from "./scenario.ts";

let scenario: ReturnType<typeof newScenario>;
beforeEach(() => (scenario = newScenario()));

const RUN = "run-r";
const APPROVAL = "approval";
const args = { id: "a", client: 0, steps: 1, approval: true };
const json = (value: unknown) => ({ json: JSON.stringify(value) });
const worker = { epoch: 1, worker: "w" };
const acted = (nth: number) => ({ step: "act", n: 0, nth });

/** A run in the log, begun by an operation. */
function created(operation: string, run: string, slot: string | null = null, given: object = args) {
  const data = { run_id: run, expires_at: "2126-01-01T00:00:00Z", limits: { max_steps: 10 }, slot };
  scenario.event("RunCreated", `run-${run}`, operation, data, { args: json(given), external_user_id: null });
}

/** A start that was answered, and the run that it led to. */
function started(given: object = args) {
  created("1", "r", null, given);
  const asked = { kind: "sequence", args: given, key: "1", external_user_id: null };
  scenario.operation("run.start", "1", { asked, got: { run_id: "r", accepted: true } }, [202]);
}

let commands = 0;
/** An event of a run by its coordinator. */
const event = (type: string, data: object = {}, personal?: object, run = RUN) =>
  scenario.event(type, run, `worker ${commands++}`, { run_id: "r", ...data }, personal);

/** Records that an attempt of a step has started and has had its external effect. */
function begun(key: string, attempt: number, nth = attempt) {
  event("StepStarted", { key, name: "act", attempt });
  scenario.effect({ run_id: "r", key: idempotencyKey("r", key), step: "act", attempt, nth });
}
const scheduled = (key: string) =>
  event("StepsScheduled", { steps: [{ key, name: "act" }], on_error: "fail" }, { args: [json({})] });
const completed = (key: string, attempt: number, nth = attempt) =>
  event("StepCompleted", { key, name: "act", attempt }, { result: json(acted(nth)) });
const asked = () =>
  event("ApprovalRequested", { approval_id: APPROVAL, key: "k", expires_at: "2126-01-01T00:00:00Z" }, { name: "only" });
const decided = (decision: string) =>
  event("ApprovalDecided", { approval_id: APPROVAL, key: "k", decision, by: { type: "api_key", id: "k" }, ...worker });
const ended = (result: unknown) =>
  event("RunCompleted", { forget_at: "2126-01-01T00:00:00Z" }, { result: json(result) });

/** A run with a lost attempt at its step, up to its approval. */
function asking() {
  started();
  event("RunStarted");
  scheduled("s");
  begun("s", 1);
  event("StepAttemptLost", { key: "s", name: "act", attempt: 1 });
  event("RunTaken", { epoch: 2, worker: "v", reason: "lost" });
  begun("s", 2);
  completed("s", 2);
  asked();
}
const rejection = (id: string, more: object = {}) =>
  scenario.operation("run.decide", id, { asked: { run_id: "r", approval_id: APPROVAL, decision: "reject" }, ...more });

test("a run that was lost, taken over, rejected and read back is no finding", () => {
  asking();
  scenario.operation("run.follow", "2", {
    asked: { run_id: "r", after: 1 },
    got: {
      frames: [
        [2, "run.started"],
        [3, "step.scheduled"],
        [4, "step.started"],
        [5, "step.lost"],
      ],
    }, // prettier-ignore
  });
  decided("reject");
  rejection("3");
  const result = { id: "a", results: [acted(2)], decided: ["rejected"] };
  ended(result);
  scenario.operation("run.read", "4", {
    asked: { run_id: "r" },
    got: { status: "completed", result, error: null, steps: [{ key: "s" }] },
  });
  expect(scenario.findings()).toEqual([]);
});

test("a run that waits for a pending decision is no finding", () => {
  asking();
  expect(scenario.findings()).toEqual([]);
});

test("a run whose step lost every allowed attempt is no finding", () => {
  started();
  event("RunStarted");
  scheduled("s");
  for (const attempt of [1, 2, 3, 4, 5, 6]) {
    begun("s", attempt);
    event("StepAttemptLost", { key: "s", name: "act", attempt });
    event("RunTaken", { epoch: attempt + 1, worker: "v", reason: "lost" });
  }
  event("StepFailed", { key: "s", name: "act", attempt: 6 });
  event(
    "RunFailed",
    { code: "step_lost", step: "act", key: "s", forget_at: "2126-01-01T00:00:00Z" },
    { error: { message: "lost" } },
  );
  expect(scenario.findings()).toEqual([]);
});

describe("the checker finds", () => {
  test("a start that was answered and is missing in the log, and a start that belongs to another request", () => {
    scenario.operation("run.hook", "1", { asked: { args, key: "1" }, got: { run_id: "r", accepted: true } }, [202]);
    expect(scenario.findings()).toEqual(["lost I1"]);
    scenario = newScenario();
    asking();
    scenario.operation("run.start", "2", {
      asked: { args: { ...args, steps: 2 }, key: "2", external_user_id: null },
      got: { run_id: "r", accepted: true },
    });
    expect(scenario.findings()).toEqual(["different I1"]);
  });

  test("a timer that fired twice", () => {
    asking();
    event("TimerFired", { key: "t" });
    expect(scenario.findings()).not.toContain("doubled I10");
    event("TimerFired", { key: "t" });
    expect(scenario.findings()).toContain("doubled I10");
  });

  test("two runs under one key", () => {
    asking();
    created("1-again", "q");
    const asked = { kind: "sequence", args, key: "1", external_user_id: null };
    scenario.operation("run.start", "1-again", { asked, got: { run_id: "q", accepted: true } }, [202]);
    scenario.event("RunCancelled", "run-q", "2", { run_id: "q" });
    scenario.operation("run.cancel", "2", { asked: { run_id: "q" } });
    expect(scenario.findings()).toEqual(["doubled I3"]);
  });

  test("a concurrency slot that two live runs hold", () => {
    asking();
    for (const run of ["p", "q"]) {
      created(run, run, "one");
      scenario.operation("run.cancel", `cancel ${run}`, { asked: { run_id: run } });
    }
    for (const run of ["p", "q"]) scenario.event("RunCancelled", `run-${run}`, `cancel ${run}`, { run_id: run });
    expect(scenario.findings()).toEqual(["doubled I10"]);
  });

  test("a run that stopped making progress", () => {
    started();
    event("RunStarted");
    scheduled("s");
    begun("s", 1);
    expect(scenario.findings()).toEqual(["stuck I8"]);
  });

  test("a step with two results, an attempt that did its work twice, and an attempt that worked before it began", () => {
    asking();
    completed("s", 2);
    scenario.effect({ run_id: "r", key: idempotencyKey("r", "s"), step: "act", attempt: 2 });
    scenario.effect({ run_id: "r", key: idempotencyKey("r", "s"), step: "act", attempt: 3 });
    scenario.effect({ run_id: "r", key: "another", step: "act" });
    expect(scenario.findings().filter((finding) => finding.endsWith("I10"))).toEqual([
      "doubled I10",
      "different I10",
      "different I10",
      "doubled I10",
    ]);
  });

  test("a step that was never executed, and a run's result that comes from another attempt", () => {
    asking();
    decided("reject");
    ended({ id: "a", results: [acted(1)], decided: ["rejected"] });
    expect(scenario.findings()).toEqual(["different I10"]);
    scenario = newScenario();
    started();
    event("RunStarted");
    scheduled("s");
    event("StepStarted", { key: "s", name: "act", attempt: 1 });
    completed("s", 1);
    asked();
    expect(scenario.findings()).toEqual(["lost I10"]);
  });

  test("a run that failed without a reason, and a run that nobody cancelled", () => {
    asking();
    event("RunFailed", { code: "runner_lost", forget_at: "2126-01-01T00:00:00Z" }, { error: { message: "gone" } });
    expect(scenario.findings()).toEqual(["different I10"]);
    scenario = newScenario();
    asking();
    event("RunCancelled", { forget_at: "2126-01-01T00:00:00Z" });
    expect(scenario.findings()).toEqual(["different I10"]);
  });

  test("two decisions of one approval, a decision that differs from the acknowledged one, and a decided approval shown as pending", () => {
    asking();
    decided("approve");
    decided("reject");
    rejection("3");
    scenario.operation("run.approvals", "4", {
      asked: { run_id: "r" },
      got: { approvals: [{ id: APPROVAL, status: "pending" }] },
    });
    expect(scenario.findings().filter((finding) => !finding.startsWith("stuck"))).toEqual([
      "doubled I10",
      "different I1",
      "different I16",
    ]);
  });

  test("activity after a cancellation: a step that starts, and a secret that is read", () => {
    asking();
    event("RunCancelled", { forget_at: "2126-01-01T00:00:00Z" });
    scenario.operation("run.cancel", "5", { asked: { run_id: "r" } });
    const paid = { run_id: "r", key: idempotencyKey("r", "s"), step: "paid", attempt: 2 };
    scenario.effect({ ...paid, part: "before" });
    scenario.effect({ ...paid, part: "after", has_secret: true });
    event("StepStarted", { key: "t", name: "act", attempt: 1 });
    expect(scenario.findings()).toEqual(["different I10", "different I16"]);
  });

  test("a cancelled run that is read as running, and a cancelled run that ended otherwise", () => {
    asking();
    event("RunCancelled", { forget_at: "2126-01-01T00:00:00Z" });
    scenario.operation("run.cancel", "5", { asked: { run_id: "r" } });
    const read = { asked: { run_id: "r" }, got: { status: "running", result: null, error: null } };
    scenario.operation("run.poll", "6", read);
    scenario.operation("run.read", "7", { asked: { run_id: "r" }, outcome: "refused" }, [404]);
    expect(scenario.findings()).toEqual(["different I16", "lost I16"]);
    scenario = newScenario();
    asking();
    scenario.operation("run.cancel", "5", { asked: { run_id: "r" } });
    expect(scenario.findings()).toEqual(["lost I1"]);
  });

  test("a stream that omits an event", () => {
    asking();
    scenario.operation("run.follow", "2", {
      asked: { run_id: "r", after: 0 },
      got: {
        frames: [
          [1, "run.created"],
          [3, "step.scheduled"],
        ],
      }, // prettier-ignore
    });
    expect(scenario.findings()).toEqual(["different I11"]);
  });

  test("a step that was executed twice against its settings", () => {
    started();
    event("RunStarted");
    event("StepsScheduled", { steps: [{ key: "s", name: "once" }], on_error: "fail" }, { args: [json({})] });
    for (const attempt of [1, 2]) begun("s", attempt);
    expect(scenario.findings()).toContain("doubled I10");
  });

  test("a step whose result differs from what the run received, or is missing", () => {
    const drawn = (number: number) => ({
      step: "pure",
      n: 0,
      drawn: `0198c0de-0000-7000-8000-000000000001 0.${number}`,
    });
    const recorded = (is: object, was: object) => {
      scenario = newScenario();
      started({ id: "a", client: 0, pure: 1 });
      event("StepsScheduled", { steps: [{ key: "s", name: "pure" }], on_error: "fail" }, { args: [json({})] });
      event("StepStarted", { key: "s", name: "pure", attempt: 1 });
      event("StepCompleted", { key: "s", name: "pure", attempt: 1 }, { result: json(is) });
      ended({ id: "a", results: [was], decided: [] });
      return scenario.findings();
    };
    expect(recorded(drawn(1), drawn(1))).toEqual([]);
    expect(recorded(drawn(1), drawn(2))).toEqual(["different I10"]);
    expect(recorded({ step: "pure", n: 0 }, { step: "pure", n: 0 })).toEqual(["lost I10"]);
  });

  test("a secret in the output of a step", () => {
    asking();
    event("RunLogged", {}, { logs: ["canary-d41f8c2b-for-steps"] });
    expect(scenario.findings()).toEqual(["different I14"]);
  });
});
