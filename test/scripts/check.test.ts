import { afterAll, describe, expect, test } from "vitest";
import { createChecker } from "#infra/scripts/check.ts";
import { openScripts } from "#infra/scripts/openScripts.ts";
import type { InvalidScript } from "#http/scripts.ts";
import { StepSettings } from "#events/definition.ts";

/* A workflow is checked when it is saved. */

const runner = openScripts({ processes: 1, cpu_ms: 500 });
afterAll(() => runner.close());
const checker = createChecker(runner);

const RUN = "export async function run() {}";
const check = (source: string) => checker.check("o1", "workflow", source);
const metaOf = async (source: string) => (await check(source)).meta;
const refused = (source: string): Promise<InvalidScript> =>
  check(source).then(
    ({ meta }) => expect.unreachable(`it was taken: ${JSON.stringify(meta)}`),
    (error) => error,
  );

test("a small workflow has no arguments of its own, no steps and nothing to warn of", async () => {
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

test("what it says of itself and of its steps is kept, with what they leave out", async () => {
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

test("what a reader would warn of is kept with its place, and refuses nothing", async () => {
  const { workflow } = await metaOf(
    `export const steps = { a: () => 1 };\nexport async function run(ctx) {\n  try { await ctx.runStep("b"); } catch {}\n}`,
  );
  expect(workflow!.lint).toEqual([
    { code: "caught_signal", message: expect.any(String), line: 3, column: 15 },
    { code: "unknown_step", message: 'There is no step "b".', line: 3, column: 27 },
  ]);
});

describe("what cannot be kept is refused with its place", () => {
  const step = (settings: string) =>
    `import { defineStep } from "svc:workflow";\nexport const steps = {\n  a: defineStep(${settings}, () => 1),\n};\n${RUN}`;
  test.each<[string, string, RegExp, number | null]>([
    ["no run()", "export const steps = {}", /exports a function run/, null],
    ["run that is no function", "export const run = 5", /exports a function run/, null],
    ["steps that are no object", `export const steps = 5;\n${RUN}`, /steps: must be an object/, null],
    ["a step that is no function", `export const steps = {\n  a: 5 };\n${RUN}`, /steps\.a is no function/, 2],
    ["a long name", `export const steps = { ["x".repeat(65)]() {} };\n${RUN}`, /1 to 64 characters/, null],
    ["no name", `export const steps = { "": () => 1 };\n${RUN}`, /1 to 64 characters/, 1],
    ["absurd retries", step("{ retries: 1e18 }"), /steps\.a\.retries: Too big/, 3],
    ["an absurd delay", step("{ backoff: { initial_ms: 1e18 } }"), /steps\.a\.backoff\.initial_ms: Too big/, 3],
    ["an absurd timeout", step("{ timeout_s: 1e18 }"), /steps\.a\.timeout_s: Too big/, 3],
    ["no timeout", step("{ timeout_s: 0 }"), /steps\.a\.timeout_s: Too small/, 3],
    ["a word that is misspelt", step("{ retrys: 1 }"), /steps\.a: Unrecognized key: "retrys"/, 3],
    ["a schema that is none", step("{ input: { properties: 5 } }"), /steps\.a\.input\.properties: must be/, 3],
    [
      "settings that JSON does not know",
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
      "arguments of a tool",
      `export const meta = { parameters: {} };\n${RUN}`,
      /meta\.parameters: a workflow has meta\.args/,
      1,
    ],
    [
      "arguments that are no object",
      `export const meta = { args: { type: "string" } };\n${RUN}`,
      /meta\.args\.type: must be "object"/,
      1,
    ],
    ["another module", `import fs from "node:fs";\n${RUN}`, /imports nothing but svc:workflow/, null],
    [
      "a name that the module has not",
      `import { nope } from "svc:workflow";\n${RUN}`,
      /Could not find export 'nope'/,
      null,
    ],
    ["an error as it is evaluated", `${RUN}\nthrow new Error("top");`, /top/, 2],
    ["a syntax error", `${RUN}\nlet a = ;`, /./, 2],
    ["a loop as it is evaluated", `${RUN}\nfor (;;) {}`, /computed for longer than 0.5 seconds/, null],
    ["a wait for ever", `${RUN}\nawait new Promise(() => {});`, /never comes/, null],
    [
      "a call of run() as it is evaluated",
      `import { runStep } from "svc:workflow";\nawait runStep("a");\n${RUN}`,
      /called by run\(\)/,
      2,
    ],
  ])("%s", async (_, source, message, line) => {
    expect(await refused(source)).toMatchObject({ name: "InvalidScript", message, line });
  });

  test("a native operation at the top level, and the next is checked", async () => {
    expect((await refused(`${RUN}\n'a'.repeat(2e7).indexOf('a'.repeat(1e7) + 'b')`)).message).toMatch(
      /computed for longer/,
    );
    expect((await metaOf(RUN)).workflow).toBeDefined();
  });
});

test("a tool is checked as before", async () => {
  const { meta } = await checker.check("o1", "tool", "export const execute = () => 1");
  expect(meta).toEqual({ description: "", parameters: { type: "object", properties: {} }, secrets: [] });
  await expect(checker.check("o1", "tool", RUN)).rejects.toThrow(/exports a function execute/);
});
