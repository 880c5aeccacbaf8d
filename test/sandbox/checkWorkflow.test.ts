import { afterAll, describe, expect, test } from "vitest";
import { createScriptChecker } from "#infra/sandbox/checkScript.ts";
import { openScripts } from "#infra/sandbox/openScripts.ts";
import type { InvalidScript } from "#http/base/scriptChecker.ts";
import { StepSettings } from "#events/definition.ts";

const runner = openScripts({ processes: 1, cpu_ms: 500 });
afterAll(() => runner.close());
const checker = createScriptChecker(runner);

const RUN = "export async function run() {}";
const check = (source: string) => checker.check("o1", "workflow", source);
const metaOf = async (source: string) => (await check(source)).meta;
const refusal = (source: string): Promise<InvalidScript> =>
  check(source).then(
    ({ meta }) => expect.unreachable(`it was accepted: ${JSON.stringify(meta)}`),
    (error) => error,
  );

test("a minimal workflow is saved without arguments, steps and warnings", async () => {
  const checked = await check(RUN);
  expect(checked).toEqual({
    js: RUN,
    name: undefined,
    meta: {
      description: "",
      parameters: { type: "object", properties: {} },
      secrets: [],
      workflow: { steps: {}, lint: [], catches: false },
    },
  });
});

test("the meta and the step settings of a workflow are saved with their defaults", async () => {
  const source = `import { defineStep, type RunContext } from "svc:workflow";
interface Order { id: string }
export const meta = { name: "refund", description: "Refunds", args: { anyOf: [{ required: ["id"] }] }, secrets: ["shop_key"], type: "workflow" };
const charge = defineStep({ retries: 5, backoff: { kind: "fixed", initial_ms: 10 }, timeout_s: 0.5, on_lost: "fail", input: { type: "string" } }, async (order: Order) => order);
export const steps = { charge, plain: () => 1, "with a space": async () => 2 };
export async function run(ctx: RunContext, args: Order) { return ctx.complete(); }`;
  const { name, js, meta } = await check(source);
  expect(name).toBe("refund");
  expect(js.split("\n")).toHaveLength(source.split("\n").length);
  expect(meta).toMatchObject({
    description: "Refunds",
    parameters: { anyOf: [{ required: ["id"] }] },
    secrets: ["shop_key"],
  });
  const charge = {
    retries: 5,
    backoff: { kind: "fixed", initial_ms: 10, factor: 2, max_ms: 60_000, jitter: 0.2 },
    timeout_s: 0.5,
    on_lost: "fail",
    input: { type: "string" },
  };
  const plain = StepSettings.parse({});
  expect(meta.workflow!.steps).toEqual({ charge, plain, "with a space": plain });
});

test("warnings about a workflow are saved with their positions, and do not block the save", async () => {
  const { workflow } = await metaOf(
    `export const steps = { a: () => 1 };\nexport async function run(ctx) {\n  try { await ctx.runStep("b"); } catch {}\n}`,
  );
  expect(workflow!.lint).toEqual([
    { code: "caught_signal", message: expect.any(String), line: 3, column: 15 },
    { code: "unknown_step", message: 'There is no step "b".', line: 3, column: 27 },
  ]);
});

describe("a workflow is refused with the position of its error:", () => {
  const step = (settings: string) =>
    `import { defineStep } from "svc:workflow";\nexport const steps = {\n  a: defineStep(${settings}, () => 1),\n};\n${RUN}`;
  const inRun = (call: string) =>
    `export const steps = { a: () => 1 };\nexport async function run(ctx) {\n  ${call};\n}`;
  const inStep = (call: string) => `export const steps = { a: async (args, ctx) => {\n  await ${call};\n} };\n${RUN}`;
  test.each<[string, string, RegExp, number | null]>([
    ["no run()", "export const steps = {}", /exports a function run/, null],
    ["run is not a function", "export const run = 5", /exports a function run/, null],
    ["steps is not an object", `export const steps = 5;\n${RUN}`, /steps: must be an object/, null],
    ["a step is not a function", `export const steps = {\n  a: 5 };\n${RUN}`, /steps\.a is not a function/, 2],
    ["a step has a long name", `export const steps = { ["x".repeat(65)]() {} };\n${RUN}`, /1 to 64 characters/, null],
    ["a step has an empty name", `export const steps = { "": () => 1 };\n${RUN}`, /1 to 64 characters/, 1],
    ["too many retries", step("{ retries: 1e18 }"), /steps\.a\.retries: Too big/, 3],
    ["too long a delay", step("{ backoff: { initial_ms: 1e18 } }"), /steps\.a\.backoff\.initial_ms: Too big/, 3],
    ["too long a timeout", step("{ timeout_s: 1e18 }"), /steps\.a\.timeout_s: Too big/, 3],
    ["a timeout of 0", step("{ timeout_s: 0 }"), /steps\.a\.timeout_s: Too small/, 3],
    ["a misspelt setting", step("{ retrys: 1 }"), /steps\.a: Unrecognized key: "retrys"/, 3],
    ["an invalid input schema", step("{ input: { properties: 5 } }"), /steps\.a\.input\.properties: must be/, 3],
    [
      "settings that JSON cannot represent",
      step("{ retries: () => 1 }"),
      /settings of the step a: not serialisable/,
      null,
    ],
    [
      "a step without its function",
      `import { defineStep } from "svc:workflow";\n\nexport const steps = { a: defineStep({}) };\n${RUN}`,
      /there is no function/,
      3,
    ],
    [
      "parameters like those of a tool",
      `export const meta = { parameters: {} };\n${RUN}`,
      /meta\.parameters: a workflow has meta\.args/,
      1,
    ],
    [
      "arguments that are not an object",
      `export const meta = { args: { type: "string" } };\n${RUN}`,
      /meta\.args\.type: must be "object"/,
      1,
    ],
    ["an unknown field of meta", `export const meta = {\n  secrts: [],\n};\n${RUN}`, /meta\.secrts: is unknown/, 2],
    ["an unknown option", inRun('await ctx.runStep("a", {}, { onerror: "return" })'), /runStep: onerror is not an/, 3],
    ["an impossible value", inRun('await ctx.runStep("a", {}, { onError: "retry" })'), /runStep: onError: must be/, 3],
    ["a wrong concurrency", inRun('await ctx.runStepMany("a", [], { concurrency: 51 })'), /concurrency: must be/, 3],
    ["a wrong duration", inRun('await ctx.sleep("2 hours")'), /sleep: a duration is/, 3],
    ["a wrong time", inRun('await ctx.sleepUntil("tomorrow")'), /sleepUntil: a time is/, 3],
    ["a misspelt option of an approval", inRun('await ctx.awaitApproval("a", { titel: "x" })'), /titel is not an/, 3],
    ["a wrong expiry", inRun('await ctx.awaitApproval("a", { on_expiry: "ignore" })'), /on_expiry: must be/, 3],
    ["a wrong wait", inRun('await ctx.awaitApproval("a", { expires_in: "3 days" })'), /expires_in: a duration/, 3],
    ["an unknown option in a step", inStep("ctx.chat({ model: args.m, mesages: [] })"), /chat: mesages is not an/, 2],
    ["an impossible value in a step", inStep('ctx.fetch("shop.example/orders")'), /fetch: the address must be/, 2],
    ["an import of another module", `import fs from "node:fs";\n${RUN}`, /imports nothing but svc:workflow/, null],
    [
      "an import of a name that the module does not export",
      `import { nope } from "svc:workflow";\n${RUN}`,
      /Could not find export 'nope'/,
      null,
    ],
    ["an error during evaluation", `${RUN}\nthrow new Error("top");`, /top/, 2],
    ["a syntax error", `${RUN}\nlet a = ;`, /./, 2],
    ["a loop during evaluation", `${RUN}\nfor (;;) {}`, /computed for longer than 0.5 seconds/, null],
    ["a wait without end during evaluation", `${RUN}\nawait new Promise(() => {});`, /never settles/, null],
    [
      "a call of run() during evaluation",
      `import { runStep } from "svc:workflow";\nawait runStep("a");\n${RUN}`,
      /called by run\(\)/,
      2,
    ],
  ])("%s", async (_, source, message, line) => {
    expect(await refusal(source)).toMatchObject({
      name: "InvalidScript",
      message: expect.stringMatching(message),
      line,
    });
  });

  test("a long native operation at the top level, and the next workflow is checked", async () => {
    expect((await refusal(`${RUN}\n'a'.repeat(2e7).indexOf('a'.repeat(1e7) + 'b')`)).message).toMatch(
      /computed for longer/,
    );
    expect((await metaOf(RUN)).workflow).toBeDefined();
  });
});

test("a tool is checked for the function execute", async () => {
  const { meta } = await checker.check("o1", "tool", "export const execute = () => 1");
  expect(meta).toEqual({ description: "", parameters: { type: "object", properties: {} }, secrets: [] });
  await expect(checker.check("o1", "tool", RUN)).rejects.toThrow(/exports a function execute/);
});
