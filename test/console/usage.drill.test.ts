import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { signIn } from "../agents/agents.ts";
import { say } from "../http/service.ts";
import { SOON } from "../soon.ts";
import { HOSTILE, inspect, LONG_NAME, openConsole } from "./browser.ts";

/* What the organization used, for administrators. */

const { tenant, open } = await openConsole();

/** Requests of the last 30 days. */
const countTurns = async (): Promise<number> => (await tenant.made(tenant.owner("GET", "/usage"))).totals.turns;

test("usage is empty at first, is grouped by address, links to its requests, and can be downloaded", async () => {
  const page = await open("usage");
  await page.getByRole("heading", { name: "Nothing was used in this time" }).waitFor();
  await inspect(page, "usage-empty");
  const named = async (name: string) => {
    const { id, key } = await tenant.made(tenant.owner("POST", "/keys", { name }));
    return { id: id as string, call: tenant.clientAt(key) };
  };
  const keys = [await named(`=Key ${HOSTILE}`), await named(LONG_NAME)];
  for (const [n, { call }] of keys.entries())
    for (let times = 0; times <= n; times++)
      expect((await call("POST", "/openai/v1/chat/completions", say("Hello", { user: HOSTILE }))).status).toBe(200);
  await expect.poll(countTurns, SOON).toBe(3);
  await page.reload();
  const today = new Date().toISOString().slice(0, 10);
  await page.getByRole("row", { name: today }).getByRole("cell", { name: "3", exact: true }).first().waitFor();
  expect(await page.getByRole("row").count()).toBeGreaterThan(30);
  await inspect(page, "usage-day");
  await page.getByRole("link", { name: "by key" }).click();
  await expect.poll(() => page.getByRole("row").count(), SOON).toBe(3);
  await inspect(page, "usage-key");
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: "Download CSV" }).click(),
  ]);
  const lines = (await readFile(await download.path(), "utf8")).trim().split("\r\n");
  expect(lines).toHaveLength(3);
  expect(lines[1]).toContain(keys[1]!.id);
  await page.getByRole("link", { name: "by end user" }).click();
  await page.getByText(HOSTILE).waitFor();
  await page.getByLabel("Order and bars by").selectOption("requests");
  await expect.poll(() => page.url(), SOON).toContain("measure=requests");
  await page.getByRole("link", { name: "by model" }).click();
  await page.getByRole("link", { name: "offline/echo" }).click();
  await page.getByRole("heading", { name: "Requests" }).waitFor();
  await page.goBack();
  await page.getByRole("link", { name: "by key" }).click();
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.getByText(keys[1]!.id).waitFor();
});

test("the period is part of the address, both days included, and an invalid one is reported", async () => {
  const [year, day] = [new Date().getUTCFullYear(), new Date().toISOString().slice(0, 10)];
  const before = await countTurns();
  await tenant.key("POST", "/openai/v1/chat/completions", say("Today"));
  await expect.poll(countTurns, SOON).toBe(before + 1);
  const page = await open(`usage?from=${day}&to=${day}`);
  await page.getByRole("row", { name: day }).waitFor();
  expect(await page.getByRole("row").count()).toBe(2);
  await page.getByLabel("From").fill(`${year - 3}-01-01`);
  await page.getByLabel("To (UTC)").fill(`${year - 3}-02-01`);
  await page.getByRole("heading", { name: "Nothing was used in this time" }).waitFor();
  await page.reload();
  await page.getByRole("heading", { name: "Nothing was used in this time" }).waitFor();
  await page.getByLabel("From").fill(`${year - 1}-01-01`);
  await page.getByRole("alert").getByText("field from").waitFor();
});

test("usage by label explains how labels are set, then shows the values of the chosen label", async () => {
  const page = await open("usage?by=label");
  await page.getByRole("heading", { name: "No request in this time has a label" }).waitFor();
  expect(await page.getByRole("link", { name: "Download CSV" }).count()).toBe(0);
  expect(await page.getByRole("link", { name: "The documentation" }).getAttribute("href")).toBe(
    "../docs/spending#reports",
  );
  await inspect(page, "usage-label-empty");
  const ask = (labels?: string) =>
    tenant.made(tenant.key("POST", "/openai/v1/chat/completions", say("Hello"), labels ? { "x-labels": labels } : {}));
  const before = await countTurns();
  const { id } = await ask("team=search,release=7");
  await ask("team=search");
  await ask("team=sales");
  await ask();
  await expect.poll(countTurns, SOON).toBe(before + 4);
  await page.reload();
  const rows = (name: string) => page.getByRole("table", { name: `Usage by ${name}` }).getByRole("row");
  expect(await rows("team").filter({ hasText: "search" }).locator("[data-title=Requests]").textContent()).toBe("2");
  await rows("team").filter({ hasText: "without this label" }).waitFor();
  await inspect(page, "usage-label");
  await page.getByLabel("Label").selectOption("release");
  await rows("release").filter({ hasText: "7" }).first().waitFor();
  expect(page.url()).toContain("label=release");
  const csv = await page.getByRole("link", { name: "Download CSV" }).getAttribute("href");
  expect(csv).toContain("group_by=label&label=release&format=csv");
  await page.reload();
  await rows("release").filter({ hasText: "without this label" }).waitFor();

  await page.goto(`${tenant.url}/console/requests/${id}`);
  await page.getByRole("link", { name: "release=7" }).waitFor();
  await inspect(page, "request-labels");
  await page.getByRole("link", { name: "team=search" }).click();
  await rows("team").filter({ hasText: "sales" }).waitFor();
  const builder = await open(`requests/${id}`, await tenant.member("builder"));
  await builder.getByText("team=search").waitFor();
  expect(await builder.getByRole("link", { name: "team=search" }).count()).toBe(0);
});

test("a builder has no menu entry for usage, and the page names the administrators", async () => {
  const builder = await tenant.member("builder");
  const page = await open("usage", builder);
  await page.getByRole("heading", { name: "For administrators" }).waitFor();
  expect(await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Usage" }).count()).toBe(0);
  await inspect(page, "usage-refused");
});

test("usage of a former member is shown with the description from the log", async () => {
  const { id, email, password } = await tenant.made(
    tenant.owner("POST", "/members", { email: "left@example.org", name: "Lee Left", role: "builder" }),
  );
  const { call } = await signIn(tenant.url, { email, password });
  const before = await countTurns();
  await tenant.made(call("POST", "/openai/v1/chat/completions", say("Hello", { user: "customer-7" })));
  await tenant.owner("DELETE", `/members/${id}`);
  await expect.poll(countTurns, SOON).toBe(before + 1);
  const page = await open("usage?by=person");
  const former = String.raw`former builder, only on \d+ \w+ \d{4} \(\w{8}\)`;
  await page.getByRole("link", { name: new RegExp(`^${former}$`) }).waitFor();
  await page.getByRole("link", { name: "by end user" }).click();
  await page.getByRole("link", { name: new RegExp(`^${former}, for customer-7$`) }).waitFor();
});
