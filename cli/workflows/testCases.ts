import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { CliError } from "../cliError.ts";
import { answerFields, createAnswers, stepFailure } from "./answers.ts";
import { describeCall, placeIn, shortJson } from "./describeCalls.ts";
import type { LocalSandbox, LocalScript } from "./loadScript.ts";
import type { Answerer, LocalCall, LocalEnd } from "./localCalls.ts";
import { fillForms } from "./localForms.ts";
import { runLocally } from "./localRun.ts";
import { executeStep, localHost } from "./localStep.ts";
import { checkRunArgs } from "./runFile.ts";

const ExpectedCall = z.union(
  [
    z.strictObject({ step: z.string(), args: z.unknown().optional() }),
    z.strictObject({ approval: z.string(), title: z.string().optional() }),
    z.strictObject({ startRun: z.string(), args: z.unknown().optional() }),
    z.strictObject({ waitForRun: z.string() }),
    z.strictObject({ waitForEvent: z.string() }),
    z.strictObject({ agent: z.string(), input: z.unknown().optional() }),
    z.strictObject({ sleep: z.literal(true) }),
  ],
  "must be {step, args}, {approval, title}, {startRun, args}, {waitForRun}, {waitForEvent}, {agent, input} or {sleep: true}",
);
type ExpectedCall = z.infer<typeof ExpectedCall>;

const TestCase = z.strictObject({
  name: z.string().min(1),
  args: z.record(z.string(), z.unknown()).default({}),
  ...answerFields,
  expect: z
    .strictObject({
      result: z.unknown().optional(),
      /** A part of the error message with which the run fails. */
      error: z.string().optional(),
      /** The arguments of the `continueAs` that ends the run. */
      continueAs: z.record(z.string(), z.unknown()).optional(),
      /** All calls of `run()` in order. */
      calls: z.array(ExpectedCall).optional(),
    })
    .refine((expected) => Object.keys(expected).length > 0, "must have result, error, continueAs or calls")
    .refine(
      ({ result, error, continueAs }) => [result, error, continueAs].filter((one) => one !== undefined).length < 2,
      "has only one of result, error and continueAs",
    ),
});
export type TestCase = z.infer<typeof TestCase>;
export const TestFile = z.strictObject({ cases: z.array(TestCase).min(1) });

/** The start time and the id of test runs. They are always the same, and so are random numbers and the ids of `uuid`. */
const NOW = "2026-01-01T00:00:00.000Z";
const RUN_ID = "019b76da-a800-7000-8000-000000000000";

const isExpected = (call: LocalCall, expected: ExpectedCall): boolean => {
  if ("step" in expected)
    return (
      call.kind === "step" &&
      call.name === expected.step &&
      (expected.args === undefined || isDeepStrictEqual(call.args, expected.args))
    );
  if ("startRun" in expected)
    return (
      call.kind === "child" &&
      call.name === expected.startRun &&
      (expected.args === undefined || isDeepStrictEqual(call.args, expected.args))
    );
  if ("waitForRun" in expected) return call.kind === "runWait" && call.name === expected.waitForRun;
  if ("waitForEvent" in expected) return call.kind === "event" && call.name === expected.waitForEvent;
  if ("agent" in expected)
    return (
      call.kind === "agent" &&
      call.name === expected.agent &&
      (expected.input === undefined || isDeepStrictEqual(call.input, expected.input))
    );
  if ("approval" in expected)
    return (
      call.kind === "approval" &&
      call.name === expected.approval &&
      (expected.title === undefined || call.title === expected.title)
    );
  return call.kind === "timer";
};

function compareCalls(file: string, calls: LocalCall[], expected: ExpectedCall[]): string | undefined {
  for (let n = 0; n < Math.max(calls.length, expected.length); n++) {
    const [call, wanted] = [calls[n], expected[n]];
    if (call && wanted && isExpected(call, wanted)) continue;
    const found = call ? `${describeCall(call)} at ${placeIn(file, call.at)}` : "nothing";
    return `call ${n + 1}: expected ${wanted ? JSON.stringify(wanted) : "nothing"}, found ${found}`;
  }
  return undefined;
}

/** Why a run does not end as expected. */
function findWrongEnd(file: string, { expect }: TestCase, end: LocalEnd): string | undefined {
  if (end.type === "failed") {
    const { message, step, at } = end;
    if (expect.error === undefined || !message.includes(expect.error))
      return `${placeIn(file, at)}: ${message}${step === null ? "" : ` (step ${step})`}`;
    return undefined;
  }
  const kinds = { completed: "result", continued: "continueAs" } as const;
  const kind = kinds[end.type];
  const found = end.type === "completed" ? end.result : end.args;
  const wanted = (["error", "result", "continueAs"] as const).find((one) => expect[one] !== undefined);
  if (wanted === undefined || (wanted === kind && isDeepStrictEqual(found, expect[kind]))) return undefined;
  const names = { error: "the error", result: "the result", continueAs: "continueAs with" };
  return `expected ${names[wanted]} ${shortJson(expect[wanted])}, found ${wanted === kind ? "" : `${names[kind]} `}${shortJson(found)}`;
}

/** Why a run differs from what its case expects; undefined if it does not. */
const findFault = (file: string, test: TestCase, end: LocalEnd, calls: LocalCall[]): string | undefined =>
  findWrongEnd(file, test, end) ?? (test.expect.calls && compareCalls(file, calls, test.expect.calls));

function createAnswerer(sandbox: LocalSandbox, script: LocalScript, test: TestCase): Answerer {
  const answers = createAnswers(test);
  const host = localHost({ isLive: false, secrets: test.secrets });
  const missing = (what: string, field: string, at: string): CliError =>
    new CliError(`${at}: ${what} has no answer`, `add it to "${field}" of the case`);
  return {
    async step(step, at, run_id) {
      const given = answers.step(step.name, JSON.parse(step.args));
      if (given && "error" in given) throw stepFailure(given);
      if (given) return JSON.stringify(given.result ?? null);
      if (!answers.isExecuted(step.name))
        throw missing(`the step ${step.name} ${step.args}`, "steps", placeIn(script.file, at));
      return executeStep({ sandbox, script, host, run_id, isLive: false, onAttempt: () => {} }, step);
    },
    async approval(call, at) {
      const given = answers.approval(call.name);
      if (given) return fillForms(sandbox.schemas, call, given);
      throw missing(`the approval ${call.name}`, "approvals", placeIn(script.file, at));
    },
    event: async ({ name }) => answers.event(name),
    async agent(name, at) {
      const given = answers.agent(name);
      if (given) return given;
      throw missing(`the agent ${name}`, "agents", placeIn(script.file, at));
    },
    async run(name, at) {
      const given = answers.run(name);
      if (given) return given;
      throw missing(`the end of the run ${name}`, "runs", placeIn(script.file, at));
    },
  };
}

/** Runs a case. Returns why it failed, or undefined. */
export async function runCase(sandbox: LocalSandbox, script: LocalScript, test: TestCase): Promise<string | undefined> {
  const calls: LocalCall[] = [];
  const observer = { onCall: (call: LocalCall) => void calls.push(call), onAnswer: () => {}, onLog: () => {} };
  const answerer = createAnswerer(sandbox, script, test);
  const { headers, now = NOW } = test;
  try {
    await checkRunArgs(sandbox, script, test.args);
    const args = JSON.stringify(test.args);
    const end = await runLocally(sandbox, { script, run_id: RUN_ID, args, headers, now, answerer, observer });
    return findFault(script.file, test, end, calls);
  } catch (error) {
    if (error instanceof CliError) return error.message;
    throw error;
  }
}
