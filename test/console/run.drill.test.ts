import { expect, test } from "vitest";
import { SOON, WAITING, workflowSource } from "../workflows/tenant.ts";
import { HOSTILE, inspect, openConsole } from "./browser.ts";

/* A run that waits and starts other runs, as its page shows it. */

const PARENT = workflowSource(`const child = await ctx.startRun(args.child, {});
await ctx.startRun(args.child, {}, { on_parent_end: "leave", key: "2" });
await ctx.waitForRun(child);
await ctx.awaitApproval(${JSON.stringify(`boss ${HOSTILE}`)}, {
  title: "Go on?", assignees: [{ role: "admin" }], remind_after: "1s", escalate: { after: "1s", to: [{ role: "owner" }] }, expires_in: "1d",
});
const paid = await ctx.waitForEvent(${JSON.stringify(`paid ${HOSTILE}`)}, { timeout: "1d" });
await ctx.waitForEvent("never", { timeout: 50 });
return paid.data;`);
const MANY = workflowSource(
  'await ctx.runStepMany("count", Array.from({ length: 250 }, (_, n) => ({ n })));',
  "count: ({ n }) => n",
);

const { tenant, open } = await openConsole();
const child: { id: string } = await tenant.register(WAITING, {}, { name: `Child ${HOSTILE}` });

test("a run shows live what it waits for and how each wait ended, with links to and from the runs it started", async () => {
  const run = await tenant.start(await tenant.register(PARENT, {}, { name: "Parent" }), { child: child.id });
  const { waiting_on } = await tenant.until(run, (record) => record.waiting_on.length > 0);
  const page = await open(`runs/${run}`);
  await page.getByText("Waits for the end of").waitFor();
  await page.getByRole("heading", { name: "Runs that it started" }).waitFor();
  await page.getByRole("link", { name: /^End of run/ }).click();
  await page.getByText("not yet: the run waits").waitFor();
  await expect.poll(() => page.getByRole("table").getByRole("row").count(), SOON).toBe(3);
  await inspect(page, "run-waits-for-run");
  await tenant.decide((await tenant.pending(waiting_on[0].run_id))[0]);
  await page.getByText("Waits for the approval").waitFor();
  await page.getByRole("link", { name: /^Approval boss/ }).click();
  await page.getByText("Escalated", { exact: true }).waitFor();
  await tenant.decide((await tenant.pending(run))[0]);
  await page.getByText("Decided by").waitFor();
  await page.getByText("Waits for the event paid").waitFor();
  await inspect(page, "run-waits-for-event");
  await tenant.made(tenant.owner("POST", "/workflows/events", { name: `paid ${HOSTILE}`, data: { n: 7 } }));
  await page.getByRole("link", { name: /^Event never timed out/ }).waitFor();
  await page.getByRole("link", { name: /^Event paid/ }).click();
  await page.reload();
  await page.getByText("answered").last().waitFor();
  await inspect(page, "run-waited");
  await page.getByRole("table").getByRole("link", { name: /^run/ }).last().click();
  await page.getByText("Started by").waitFor();
  await page.getByRole("main").getByRole("link", { name: /^run/ }).click();
  await page.getByRole("heading", { name: "Parent" }).waitFor();
});

test("a run that asked an agent links to its turn", async () => {
  const clerk = await tenant.newAgent({ name: `Clerk ${HOSTILE}` });
  const run = await tenant.start(await tenant.register(workflowSource('await ctx.agent(args.clerk, "Hello");')), {
    clerk,
  });
  await tenant.untilOver(run);
  const page = await open(`runs/${run}`);
  await page
    .getByRole("main")
    .getByRole("link", { name: /^Agent/ })
    .click();
  await page.getByText("answered").last().waitFor();
  await inspect(page, "run-asked-an-agent");
  await page.getByRole("definition").getByRole("link", { name: "Open it" }).click();
  await page.getByRole("heading", { name: "Request" }).waitFor();
  expect(new URL(page.url()).pathname).toMatch(/\/requests\//);
});

test("the list of runs can be filtered by address to the runs that one run started", async () => {
  const source = workflowSource('for (const key of ["a", "b"]) await ctx.startRun(args.child, {}, { key });');
  const run = await tenant.start(await tenant.register(source), { child: child.id });
  await tenant.untilOver(run);
  const page = await open(`runs?starter=${run}`);
  await page.getByText("Started by run").waitFor();
  await expect.poll(() => page.getByRole("row").count(), SOON).toBe(3);
  await inspect(page, "runs-of-a-run");
  await page.getByRole("button", { name: "Remove" }).click();
  await expect.poll(() => page.url(), SOON).not.toContain("starter");
});

test("a run of many steps renders only those near the window, and scrolling reaches the last one", async () => {
  const run = await tenant.start(await tenant.register(MANY));
  await tenant.untilOver(run);
  const page = await open(`runs/${run}`);
  await page.getByRole("link", { name: "count #0" }).waitFor();
  expect(await page.locator("li.step").count()).toBe(100);
  await expect
    .poll(async () => {
      await page.keyboard.press("End");
      return page.getByRole("link", { name: "count #249" }).count();
    }, SOON)
    .toBe(1);
  await inspect(page, "run-many-steps");
});
