import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { HOSTILE, idIn, inspect, openConsole, refuseNext, type Console } from "./browser.ts";

/* A run that is forked with changes, and why each step of the new run was executed. */

const sourceOf = (price: number) => `export const steps = {
  look: ({ order }) => ({ order, price: ${price} }),
  pay: ({ order, price }) => ({ paid: price }),
};
export async function run(ctx, { order }) {
  const { price } = await ctx.runStep("look", { order });
  return ctx.complete(await ctx.runStep("pay", { order, price }));
}`;

let tenant: Console["tenant"];
let open: Console["open"];
let workflow: { id: string; definition: { id: string } };
beforeAll(async () => {
  ({ tenant, open } = await openConsole());
  workflow = await tenant.register(sourceOf(5), {}, { name: "Orders" });
});

const isCompleted = ({ status }: any) => status === "completed";
const stepNamed = async (run: string, name: string) =>
  (await tenant.made(tenant.owner("GET", `/workflows/runs/${run}/steps`))).data.find((step: any) => step.name === name);

/** Opens a step of a finished run, and the form for a new run. */
async function openFork(run: string, name: string): Promise<Page> {
  const page = await open(`runs/${run}?step=${(await stepNamed(run, name)).id}`);
  await page.getByText("New run with changes").click();
  await page.getByLabel("Arguments of the run").waitFor();
  return page;
}

/** Sends the form; the new run, with a step open. */
async function fork(page: Page, parent: string, name: string): Promise<any> {
  await page.getByRole("button", { name: "Start the new run" }).click();
  await page.waitForURL((url) => !url.pathname.endsWith(parent));
  await page.getByText("Forked from").waitFor();
  const run = await tenant.until(idIn(page), isCompleted);
  await page.goto(`${tenant.url}/console/runs/${run.id}?step=${(await stepNamed(run.id, name)).id}`);
  return run;
}

test("a step gets another result, and later steps report that they ran with other arguments for that reason", async () => {
  const parent = await tenant.start(workflow, { order: `A ${HOSTILE}` });
  await tenant.until(parent, isCompleted);
  const page = await openFork(parent, "look");
  await page.getByLabel("Give look a result").check();
  const result = page.getByLabel("Result of the step");
  expect(JSON.parse(await result.inputValue())).toEqual({ order: `A ${HOSTILE}`, price: 5 });
  await result.fill("{ nothing");
  await page.getByRole("button", { name: "Start the new run" }).click();
  await page.getByRole("alert").getByText("Result of the step:").waitFor();
  await inspect(page, "run-fork-form");
  await result.fill('{"price": 9}');
  const run = await fork(page, parent, "pay");
  expect(run.result).toEqual({ paid: 9 });
  await page.getByText("This run has another result of look.").waitFor();
  await page.getByLabel("Its arguments there").getByText('"price": 5').waitFor();
  await inspect(page, "run-step-reason");
  await page.goto(`${tenant.url}/console/runs/${run.id}?step=${(await stepNamed(run.id, "look")).id}`);
  await page.getByText("its result was set when the run was forked").waitFor();
});

test("a run is forked with other arguments and another version, and its steps report both", async () => {
  const parent = await tenant.start(workflow, { order: "A" });
  await tenant.until(parent, isCompleted);
  await tenant.made(tenant.owner("PATCH", `/definitions/${workflow.definition.id}`, { source: sourceOf(7) }));
  const page = await openFork(parent, "look");
  await page.getByLabel("Arguments of the run").fill('{"order": "B"}');
  const run = await fork(page, parent, "look");
  expect(run.args).toEqual({ order: "B" });
  await page.getByText("It ran with other arguments than in the run that this one was forked from.").waitFor();
  await page.getByText("This run has other arguments of the run.").waitFor();
  const again = await openFork(parent, "look");
  await again.getByLabel("Version of the code").selectOption("2");
  expect((await fork(again, parent, "look")).result).toEqual({ paid: 7 });
  await again.getByText("because the fork executes look and everything after it").waitFor();
  await again.getByText("This run has version 2 of the code instead of 1.").waitFor();
  await again.getByRole("link", { name: "See it there" }).click();
  await again.waitForURL((url) => url.pathname.endsWith(parent));
});

test("another step is not opened over changes that are being written", async () => {
  const parent = await tenant.start(workflow, { order: "A" });
  await tenant.until(parent, isCompleted);
  const page = await openFork(parent, "look");
  const asked = refuseNext(page);
  await page.getByLabel("Arguments of the run").fill('{"order": "C"}');
  const pay = page.locator("a.step-line", { hasText: "pay" });
  await pay.click();
  await expect.poll(() => asked).toEqual([expect.stringContaining("What you wrote is not saved")]);
  expect(await page.getByLabel("Arguments of the run").inputValue()).toBe('{"order": "C"}');
  page.once("dialog", (dialog) => void dialog.accept());
  await pay.click();
  await expect.poll(() => page.url()).toContain((await stepNamed(parent, "pay")).id);
});
