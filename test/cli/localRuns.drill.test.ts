import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openStepSite } from "../workflows/stepSite.ts";
import { EXAMPLES, folderWith, svc } from "./localDefinition.ts";

/* Workflows that are files, by the commands `svc run` and `svc definitions test`. No service runs. */

describe("svc run", () => {
  test("prints the calls with their places, and asks for decisions on the terminal", async () => {
    const { file } = await folderWith([]);
    const ran = await svc(["run", file, "--args", '{"sku":"A"}', "--live-steps"], "what\napprove\n");
    expect(ran).toMatchObject({ code: 0, stderr: "" });
    expect(ran.stdout).toMatch(
      /log: begins\nstep price \{"sku":"A"\} {3}.*buy\.ts:14:\d+\n {2}= \{"sku":"A","cents":250\}\n/,
    );
    expect(ran.stdout).toMatch(/approval boss "Buy\?" .*\n(Buy\? \[approve\/reject\/expire\/wait\] ){2}/);
    expect(ran.stdout).toMatch(/sleep until .*\ncompleted \{\n {2}"cents": 250/);
  });

  test("fails with the place of the error, and explains how to answer a call", async () => {
    const { file, folder, write } = await folderWith([]);
    write("answers.json", { steps: { price: { result: { cents: 5 } } }, approvals: { boss: "reject" } });
    write("args.json", { sku: "A" });
    const [args, answers] = [`@${join(folder, "args.json")}`, join(folder, "answers.json")];
    const failed = await svc(["run", file, "--args", args, "--answers", answers]);
    expect(failed).toMatchObject({ code: 1, stdout: expect.stringContaining(`${file}:16:28: RangeError: not bought`) });
    const step = await svc(["run", file, "--args", args]);
    expect(step.stderr).toMatch(
      /The step price has no answer: add it to --answers: .* or execute steps with --live-steps/,
    );
    const approval = await svc(["run", file, "--args", args, "--live-steps"]);
    expect(approval).toMatchObject({ code: 1, stderr: expect.stringMatching(/The approval boss has no answer: /) });
  });

  test("executes steps with requests, secrets and retries", async () => {
    const site = await openStepSite();
    const { file, folder, write } = await folderWith([]);
    write("answers.json", { secrets: { key: "k1" } });
    const args = JSON.stringify({ sku: "A", url: `${site.url}/load` });
    const ran = await svc(["run", file, "--args", args, "--answers", join(folder, "answers.json"), "--live-steps"]);
    expect(ran.stdout).toMatch(/attempt 1: .*buy\.ts:7:\d+: again\n/);
    expect(ran.stdout).toContain('"attempt": 2');
    expect(site.requests.map(({ headers }) => headers["x-key"])).toEqual(["k1", "k1"]);
  });
});

test("the examples pass with the documented command", async () => {
  const { code, stdout } = await svc(["definitions", "test", EXAMPLES]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^([1-9]\d+) of \1 cases passed$/m);
});

test("a failed case is shown and sets the exit code", async () => {
  const { file } = await folderWith([
    { name: "bought", args: { sku: "A" }, execute: true, approvals: { boss: "reject" }, expect: { result: 1 } },
  ]);
  const { code, stdout } = await svc(["definitions", "test", file]);
  expect(code).toBe(1);
  expect(stdout).toMatch(
    /^FAILED .*buy\.test\.json: bought\n {7}.*buy\.ts:16:28: RangeError: not bought\n0 of 1 cases passed\n$/,
  );
});
