import { expect, test } from "vitest";
import { SOON, workflowSource } from "../workflows/tenant.ts";
import { agreeToAll, HOSTILE, inspect, openConsole } from "./browser.ts";

/* Events from outside: a person sends one to the runs that wait for it, and a webhook does. */

const WAITS = workflowSource(`const paid = await ctx.waitForEvent("order.paid", { timeout: "1d" });
return paid.data;`);

const { tenant, open } = await openConsole();
const workflow: { id: string } = await tenant.register(WAITS, {}, { name: `Waits ${HOSTILE}` });
const waiting = async (): Promise<string> => {
  const run = await tenant.start(workflow);
  await tenant.until(run, ({ waiting_on }) => waiting_on.length > 0);
  return run;
};

test("a person sends an event, sees how many runs it reached, and finds it in the list", async () => {
  const page = await open("events");
  await page.getByRole("heading", { name: "No event was sent yet" }).waitFor();
  await inspect(page, "events-empty");
  await page.getByLabel("Name").fill("order.paid");
  await page.getByRole("button", { name: "Send event" }).click();
  await page.getByText("No run waited for it, so it had no effect.").waitFor();
  await page.getByLabel("Data, as JSON").fill("no json");
  await page.getByRole("button", { name: "Send event" }).click();
  await page.getByRole("alert").getByText("Data:").waitFor();
  const run = await waiting();
  await page.getByLabel("Data, as JSON").fill(JSON.stringify({ text: HOSTILE }));
  await page.getByRole("button", { name: "Send event" }).click();
  await page.getByText("It reached 1 run.").waitFor();
  expect((await tenant.untilOver(run)).result).toEqual({ text: HOSTILE });
  await expect.poll(() => page.getByRole("row").count(), SOON).toBe(3);
  await inspect(page, "events");
  await page.getByRole("link", { name: "The event reached 1 run" }).click();
  await page.getByRole("main").getByText("was sent to the runs that wait for it").waitFor();
});

test("an event for a single run reaches none if several match, and a viewer cannot send events", async () => {
  const runs = [await waiting(), await waiting()];
  const page = await open("events");
  await page.getByLabel("Name").fill("order.paid");
  await page.getByLabel("Who gets it").selectOption("one");
  await page.getByRole("button", { name: "Send event" }).click();
  await page.getByRole("alert").getByText("code event_matches_several_runs").waitFor();
  await page.getByLabel("Who gets it").selectOption("all");
  await page.getByRole("button", { name: "Send event" }).click();
  await page.getByText("It reached 2 runs.").waitFor();
  for (const run of runs) await tenant.untilOver(run);
  const viewer = await open("events", await tenant.member("viewer"));
  await viewer.getByText("A viewer sends none.").waitFor();
  await inspect(viewer, "events-viewer");
});

test("a webhook with an event continues the waiting runs, and its secret is replaced", async () => {
  const run = await waiting();
  const page = await open(`workflows/${workflow.id}`);
  agreeToAll(page);
  await page.getByLabel("Name of a new webhook").fill("Payments");
  await page.getByLabel("Event that it sends").fill("order.paid");
  await page.getByText("Default arguments, headers, signed deliveries").click();
  await page.getByLabel("Default arguments, as JSON").fill('{"from":"bank"}');
  await inspect(page, "webhook-form");
  await page.getByRole("button", { name: "Add webhook" }).click();
  await page.getByText("sends the event “order.paid”").waitFor();
  const first = (await page.locator("section code").first().textContent())!;
  await page.getByRole("button", { name: "New secret" }).click();
  await page.getByText("has a new secret").waitFor();
  await inspect(page, "webhook-new-secret");
  const { data } = await tenant.made(tenant.owner("GET", `/workflows/${workflow.id}/triggers`));
  expect(data[0]).toMatchObject({ event: "order.paid", default_args: { from: "bank" } });
  const secrets = await page.locator("section code").allTextContents();
  const call = (secret: string) =>
    fetch(`${tenant.url}${new URL(data[0].hook_url).pathname}`, {
      method: "POST",
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
      body: '{"amount":5}',
    });
  expect((await call(first)).status).toBe(401);
  expect((await call(secrets.find((text) => text !== first && text.startsWith(first.slice(0, 6)))!)).status).toBe(202);
  expect((await tenant.untilOver(run)).result).toEqual({ from: "bank", amount: 5 });
});
