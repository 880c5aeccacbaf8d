import { expect, test } from "vitest";
import { SOON, WAITING, workflowSource } from "../workflows/tenant.ts";
import { agreeToAll, HOSTILE, inspect, LONG_NAME, openConsole } from "./browser.ts";

/* What a builder checks before a version is saved, and the rules of a workflow's runs. */

const PAY = workflowSource(
  'const paid = await ctx.runStep("pay", { amount: args.amount });\nreturn { paid };',
  "pay: ({ amount }) => amount",
);

const { tenant, open } = await openConsole();

test("a source is checked against stored runs before it is saved, and runs that differ are shown with the place", async () => {
  const workflow = await tenant.register(PAY);
  const page = await open(`definitions/${workflow.definition.id}`);
  await page.getByText("The service finds no problems.").waitFor();
  await page.getByRole("button", { name: "Check against stored runs" }).click();
  await page.getByText("No run of this code is stored").waitFor();
  await inspect(page, "check-runs-none");
  for (let n = 0; n < 30; n++) await tenant.untilOver(await tenant.start(workflow, { amount: n }));
  await page.getByRole("button", { name: "Check against stored runs" }).click();
  await page.getByText("Checked 30 runs: 30 go the same way.").waitFor();
  await page.getByLabel("Source of").click();
  await page.keyboard.press("Control+a");
  const name = JSON.stringify(HOSTILE);
  await page.keyboard.insertText(
    PAY.replace("args.amount }", "args.amount > 20 ? 20 : args.amount }")
      .replace("return", `if (args.amount === 3) throw new Error(${name});\nreturn`)
      .replace("{ paid }", 'args.amount === 4 ? ctx.runStep("pay", { amount: -1 }) : { paid }'),
  );
  await page.getByText("The source was changed after this check.").waitFor();
  await page.getByText("The service finds no problems.").waitFor();
  await page.getByRole("button", { name: "Check against stored runs" }).click();
  await page
    .getByText("Checked 30 runs: 19 go the same way, 9 go another way, 1 fail, 1 ask for something new")
    .waitFor();
  await expect.poll(() => page.getByRole("row").count(), SOON).toBe(12);
  await page.getByText("It calls the step “pay” with other arguments: /amount.").first().waitFor();
  await page.getByText(`run() throws: ${HOSTILE}`).waitFor();
  await inspect(page, "check-runs");
  expect((await tenant.made(tenant.owner("GET", `/definitions/${workflow.definition.id}`))).version).toBe(1);
});

test("the rules form of a workflow sets which workflows its runs may start", async () => {
  const other = await tenant.register(WAITING, {}, { name: LONG_NAME.slice(0, 200) });
  await tenant.register(WAITING, {}, { name: `Other ${HOSTILE}` });
  const workflow = await tenant.register(WAITING, { tools: ["web_fetch"] });
  const page = await open(`workflows/${workflow.id}`);
  agreeToAll(page);
  const rules = page.getByRole("group", { name: "Workflows whose runs it may start" });
  await rules.getByLabel("Only these").check();
  await rules.getByLabel(LONG_NAME.slice(0, 200)).check();
  await page.getByLabel("Hosts that steps may fetch from").fill("api.example.com\n*.example.org");
  await page.getByLabel("Live runs").fill("2");
  await page.getByLabel("Starts in a period").fill("5");
  await page.getByRole("group", { name: "Starts" }).getByLabel("For each value of").fill("/customer");
  await page.getByLabel("Priority").selectOption("low");
  await page.getByLabel("The person who started a run").uncheck();
  await inspect(page, "envelope");
  await page.getByRole("button", { name: "Save rules" }).click();
  await expect
    .poll(async () => (await tenant.made(tenant.owner("GET", `/workflows/${workflow.id}`))).envelope, SOON)
    .toMatchObject({
      workflows: [other.id],
      agents: ["*"],
      tools: ["web_fetch"],
      egress: ["api.example.com", "*.example.org"],
      concurrency: { max_runs: 2, key: null },
      start_rate: { max_runs: 5, per_seconds: 60, key: "/customer" },
      priority: "low",
      approvals: { self_approval: false, allow_api_key: true },
      run_as: { type: "service" },
    });
  await page.reload();
  await expect.poll(() => rules.getByLabel(LONG_NAME.slice(0, 200)).isChecked(), SOON).toBe(true);
  await page.getByLabel("Hosts that steps may fetch from").fill("NOT A HOST");
  await page.getByRole("button", { name: "Save rules" }).click();
  await page.getByRole("alert").getByText("code invalid_envelope").waitFor();
});

test("a workflow shows how many runs it has and how many are live, without a reload", async () => {
  const workflow = await tenant.register(WAITING, {}, { name: "Counted runs" });
  const page = await open(`workflows/${workflow.id}`);
  await page.getByText("0 runs").waitFor();
  await page.getByRole("button", { name: "Start a run" }).click();
  await page.getByText("1 run, 1 live").waitFor();
  const run = await tenant.start(workflow);
  await page.getByText("2 runs, 2 live").waitFor();
  await page.getByRole("link", { name: "← Workflows" }).click();
  const row = page.getByRole("row", { name: "Counted runs" });
  await row.getByText("2 (2 live)").waitFor();
  await tenant.cancel(run);
  await row.getByText("2 (1 live)").waitFor();
});

test("the triggers of a workflow show their calls without a reload", async () => {
  const workflow = await tenant.register(WAITING);
  const hook = await tenant.hook(workflow, { name: "Counted calls" });
  const page = await open(`workflows/${workflow.id}`);
  const row = page.getByRole("row", { name: "Counted calls" });
  const cell = (title: string) => row.locator(`[data-title="${title}"]`).textContent();
  await row.waitFor();
  expect([await cell("Runs"), await cell("Last used")]).toEqual(["0", ""]);
  await tenant.call(hook);
  await expect.poll(() => cell("Runs"), SOON).toBe("1");
  await expect.poll(() => cell("Last used"), SOON).not.toBe("");
});
