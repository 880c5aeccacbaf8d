import { parse } from "acorn";
import { expect, test } from "vitest";
import { findWrongOptions } from "./wrongOptions.ts";

const found = (call: string) => {
  const js = `export async function run(ctx, args) {\n  ${call};\n}`;
  return findWrongOptions(parse(js, { ecmaVersion: "latest", sourceType: "module" }), js);
};

test("a wrong option is found with its line and column", () => {
  expect(found('await ctx.runStep("a", {}, { key: "1", onerror: "return" })')).toEqual([
    { message: "runStep: onerror is not an option; there are key, onError.", line: 2, column: 42 },
  ]);
  expect(found('await sleep("2 hours", { name: 1 })')).toEqual([
    { message: expect.stringMatching(/^sleep: a duration is/), line: 2, column: 15 },
    { message: "sleep: name is not an option; there are key.", line: 2, column: 28 },
  ]);
});

test.each([
  ['awaitApproval("a", { title: 5 })', "awaitApproval: title: must be a string of at most 500 characters."],
  ['awaitApproval("a", { escalate: { after: "2d", to: [] } })', /^awaitApproval: escalate: .*to must name somebody/],
  ['awaitApproval("a", { assignees: [{ peson: "ann" }] })', /^awaitApproval: assignees: each of assignees is /],
  ['awaitApproval("a", { expires_in: "3 days" })', /^awaitApproval: expires_in: a duration is /],
  ['awaitApproval("a", { form: [] })', "awaitApproval: form: must be a JSON Schema."],
  ['awaitApproval("a", { required: 0 })', "awaitApproval: required: must be a whole number from 1 to 50."],
  ['runStepMany("a", [], { concurrency: -1 })', "runStepMany: concurrency: must be a whole number from 1 to 50."],
  ['startRun("a", {}, { on_parent_end: "kill" })', 'startRun: on_parent_end: must be "cancel" or "leave".'],
  ['startRun("a", {}, { timeout: 1 })', "startRun: timeout is not an option; there are key, on_parent_end."],
  ['waitForRun(args.run, { timeout: "soon" })', /^waitForRun: timeout: a duration is /],
  ['waitForEvent("paid", { match: { order: [1] } })', /^waitForEvent: match: must be an object of at most 20 /],
  ["sleep(-5)", "sleep: a duration is from 0 to 365 days."],
])("the call %s is refused for its options", (call, message) => {
  expect(found(`await ctx.${call}`)).toEqual([
    {
      message: typeof message === "string" ? message : expect.stringMatching(message),
      line: 2,
      column: expect.any(Number),
    },
  ]);
});

test.each([
  'await ctx.runStep("a", { anything: 1 }, { key: 2, onError: "return" })',
  'await ctx.runStepMany("a", [], { concurrency: args.n, ["on" + "Error"]: "no", ...args.more })',
  'await ctx.awaitApproval("a", { title: "t", expires_in: "3d", on_expiry: "reject", body: null, assignees: [] })',
  'await ctx.awaitApproval("a", { title: `t`, assignees: [{ person: args.who }], form: { type: "object", ...args.more } })',
  'await ctx.awaitApproval("a", { assignees: [{ group: "f" }], remind_after: "1d", escalate: { after: "2d", to: [{ role: "owner" }] } })',
  'await ctx.sleep("90s", { key: "x" }); await ctx.sleepUntil("2030-01-31T09:00:00Z"); await ctx.sleep(args.time)',
  'await ctx.waitForRun(await ctx.startRun("a", args, { key: 1, on_parent_end: "leave" }), { timeout: "3d" })',
  'await other.awaitApproval("a", { whatever: 1 })',
])("what may work is not refused: %s", (call) => expect(found(call)).toEqual([]));
