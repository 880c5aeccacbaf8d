import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { SOON } from "../workflows/tenant.ts";
import { agreeToAll, inspect, openConsole } from "./browser.ts";

/* Where the focus is for a person who uses only the keyboard, and that a late answer does not navigate back. */

const { tenant, open } = await openConsole();

/** The text of the focused element. */
const focused = (page: Page) => page.evaluate("document.activeElement.textContent.trim()");

test("a removed row passes the focus to the next row, then to the previous one, then to the note of the empty list", async () => {
  for (const name of ["ALPHA", "BETA", "GAMMA"]) await tenant.secret(name, "value");
  const page = await open("settings?section=secrets");
  agreeToAll(page);
  const remove = async (name: string) => {
    await page.getByRole("row", { name }).getByRole("button", { name: "Remove" }).focus();
    await page.keyboard.press("Enter");
    await expect.poll(() => page.getByRole("row", { name }).count(), SOON).toBe(0);
  };
  await page.getByRole("row", { name: "ALPHA" }).waitFor();
  await remove("BETA");
  expect(await focused(page)).toBe("GAMMA");
  await remove("GAMMA");
  expect(await focused(page)).toBe("ALPHA");
  await remove("ALPHA");
  expect(await focused(page)).toBe("There are no secrets");
  await inspect(page, "secrets-removed");
});

test("if another person removes the focused row, the focus moves to the next one; otherwise it does not move", async () => {
  for (const name of ["ONE", "TWO", "THREE"]) await tenant.secret(name, "value");
  const page = await open("settings?section=secrets");
  await page.getByRole("link", { name: "ONE" }).focus();
  await tenant.made(tenant.owner("DELETE", "/secrets/ONE"));
  await expect.poll(() => focused(page), SOON).toBe("TWO");
  const field = page.getByLabel("Name");
  await field.focus();
  await tenant.made(tenant.owner("DELETE", "/secrets/TWO"));
  await expect.poll(() => page.getByRole("row", { name: "TWO" }).count(), SOON).toBe(0);
  expect(await field.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true);
});

test("a button keeps the focus while its form is sent once, and then the first field of the empty form has the focus", async () => {
  const page = await open("settings?section=secrets");
  let sent = 0;
  let answer = (): void => {};
  const isAnswered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await page.route("**/secrets/SENT", async (route) => {
    sent++;
    await isAnswered;
    await route.continue();
  });
  await page.getByLabel(/^Name/).fill("SENT");
  await page.getByLabel(/^Value/).fill("a value");
  const button = page.getByRole("button", { name: "Set secret" });
  await button.focus();
  await page.keyboard.press("Enter");
  await expect.poll(() => button.getAttribute("aria-disabled"), SOON).toBe("true");
  expect(await focused(page)).toBe("Set secret");
  await inspect(page, "secret-being-set");
  await page.keyboard.press("Enter");
  answer();
  await page.getByRole("row", { name: "SENT" }).waitFor();
  await expect.poll(() => page.evaluate("document.activeElement.name"), SOON).toBe("name");
  expect(await page.getByLabel(/^Name/).inputValue()).toBe("");
  expect(sent).toBe(1);
});

interface Sent {
  what: string;
  path: () => Promise<string>;
  /** Values by the label of their field. */
  fields?: Record<string, string>;
  button: string;
  /** What has the focus afterwards: the text of a heading, or the name of a field. */
  next: string;
}

const forms: Sent[] = [
  {
    what: "a key that was created: its secret",
    path: async () => "keys/new",
    fields: { Name: "Website" },
    button: "Create key",
    next: "The key “Website” was created",
  },
  {
    what: "a member who was added: the first password",
    path: async () => "members/new",
    fields: { Name: "Mia", "E-mail": "mia@example.org" },
    button: "Add member",
    next: "The first password of Mia",
  },
  {
    what: "a schedule that was added: the next one",
    path: async () => `schedules?workflow=${await tenant.register("export const run = () => 1;")}`,
    fields: { Name: "Nightly" },
    button: "Add schedule",
    next: "workflow",
  },
  {
    what: "a project that was created: the next one",
    path: async () => "settings?section=projects",
    fields: { "Name of a new project": "North" },
    button: "Create project",
    next: "name",
  },
  {
    what: "a budget that was set: the next one",
    path: async () => "spending",
    fields: { "Requests a day": "1000" },
    button: "Set budget",
    next: "subject",
  },
  {
    what: "an agent that was saved: its button",
    path: async () => `agents/${(await tenant.made(tenant.owner("POST", "/agents", { name: "Saved" }))).id}`,
    fields: { Instructions: "Be brief." },
    button: "Save",
    next: "Save",
  },
  {
    what: "an approval that was decided: who decided it",
    path: async () => {
      const ask = await tenant.register(`export const run = (ctx) => ctx.awaitApproval("boss", { title: "May I?" });`);
      const [{ id }] = await tenant.pending(await tenant.start(ask));
      return `inbox/${id}`;
    },
    button: "Approve",
    next: "Approved by Administrator",
  },
];

test.each(forms)("the focus moves on after $what", async ({ path, fields = {}, button, next }) => {
  const page = await open(await path());
  for (const [label, value] of Object.entries(fields)) await page.getByLabel(label, { exact: true }).fill(value);
  await page.getByRole("button", { name: button, exact: true }).focus();
  const isSent = page.waitForResponse((response) => ["POST", "PUT", "PATCH"].includes(response.request().method()));
  await page.keyboard.press("Enter");
  expect((await isSent).ok()).toBe(true);
  const active = "document.activeElement.name || document.activeElement.textContent.trim()";
  await expect.poll(() => page.evaluate(active), SOON).toMatch(new RegExp(`^${next}`));
});

test("the first question of a conversation keeps the focus in its field, and Stop passes it on", async () => {
  const { id } = await tenant.made(tenant.owner("POST", "/agents", { name: "Slow", model: "offline/scripted" }));
  const page = await open(`chat?with=${encodeURIComponent(`agent:${id}`)}`);
  await page.getByLabel("Question").fill(`/slow 0.2\n/say ${"word ".repeat(200)}`);
  await page.keyboard.press("Enter");
  await expect.poll(() => page.url(), SOON).toMatch(/\/chat\/[0-9a-f-]{36}/);
  await page.getByRole("button", { name: "Stop" }).waitFor();
  await page.keyboard.type("And then?");
  expect(await page.getByLabel("Question").inputValue()).toBe("And then?");
  await page.getByRole("button", { name: "Stop" }).focus();
  await page.keyboard.press("Enter");
  await expect.poll(() => focused(page), SOON).toBe("Ask again");
});

test("the button that shows new runs passes the focus to the list", async () => {
  const workflow = await tenant.register("export const run = () => 1;");
  await tenant.untilOver(await tenant.start(workflow));
  const page = await open("runs");
  await page.locator("[data-row]").first().waitFor();
  await tenant.start(workflow);
  const show = page.getByRole("button", { name: "Show 1 new run" });
  await show.focus();
  await page.keyboard.press("Enter");
  await expect.poll(() => show.count(), SOON).toBe(0);
  expect(await page.evaluate("document.activeElement.matches('[data-row]')")).toBe(true);
});

test("a screen that was opened from a row receives the focus", async () => {
  const page = await open("workflows");
  await page.getByRole("link", { name: "Agents", exact: true }).click();
  await page.getByRole("link", { name: "First agent" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "First agent" }).waitFor();
  await expect.poll(() => page.evaluate("document.activeElement.id"), SOON).toBe("main");
});

test.each([
  ["runs", "Error or step", "Knowledge"],
  ["requests", "Text of the error", "Knowledge"],
  ["members", "Name or e-mail", "Usage"],
])("typing into a filter of %s while another screen opens does not navigate back", async (from, field, to) => {
  const page = await open(from);
  let answer = (): void => {};
  const isAnswered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await page.getByLabel(field).fill("first");
  await expect.poll(() => page.url(), SOON).toContain("first");
  // the program of the screen that is opened comes late
  await page.route(`**/assets/${to}-*.js`, async (route) => {
    await isAnswered;
    await route.continue();
  });
  await page.getByRole("link", { name: to, exact: true }).click();
  await page.getByText("Opening the screen…").waitFor({ state: "attached" });
  await page.getByLabel(field).pressSequentially("typed on");
  answer();
  await page.getByRole("heading", { name: to, exact: true }).waitFor();
  expect(new URL(page.url()).pathname).toBe(`/console/${to.toLowerCase()}`);
});

test.each([
  { what: "a form that is saved", path: "settings?section=secrets", method: "PUT", to: "Agents" },
  { what: "a thing that is deleted", path: "agent", method: "DELETE", to: "Knowledge" },
])("$what does not lead back a person who has left meanwhile", async ({ path, method, to }) => {
  const agent = path === "agent" ? await tenant.newAgent({ name: "Slowly deleted" }) : undefined;
  const page = await open(agent ? `agents/${agent}` : path);
  agreeToAll(page);
  const { promise, resolve: release } = Promise.withResolvers<void>();
  await page.route(/\/api\/(secrets|agents)\//, async (route) => {
    if (route.request().method() === method) await promise;
    await route.continue();
  });
  if (agent) await page.getByRole("button", { name: "Delete", exact: true }).click();
  else {
    await page.getByLabel(/^Name/).fill("SLOW");
    await page.getByLabel(/^Value/).fill("a value");
    await page.getByRole("button", { name: "Set secret" }).click();
  }
  await page.getByRole("link", { name: to, exact: true }).click();
  await page.getByRole("heading", { name: to, exact: true }).waitFor();
  const answered = page.waitForResponse((response) => response.request().method() === method);
  release();
  expect((await answered).ok()).toBe(true);
  // enough for what follows the answer
  await page.evaluate("new Promise((resolve) => setTimeout(resolve, 500))");
  expect(new URL(page.url()).pathname).toBe(`/console/${to.toLowerCase()}`);
});

test("/ focuses the filter of agents, and Esc returns to the row, or to the first row if the filter has removed it", async () => {
  for (const name of ["First agent", "Second agent"])
    await tenant.made(tenant.owner("POST", "/agents", { name, model: "offline/echo" }));
  const page = await open("agents");
  const [first, second] = ["First agent", "Second agent"].map((name) => page.getByRole("link", { name }).first());
  await second!.focus();
  await page.keyboard.press("/");
  const filter = page.getByLabel("Text to find");
  await expect.poll(() => filter.evaluate("document.activeElement.type"), SOON).toBe("search");
  await page.keyboard.press("Escape");
  expect(await focused(page)).toBe("Second agent");
  await page.keyboard.press("/");
  await page.keyboard.type("first");
  await expect.poll(() => second!.count(), SOON).toBe(0);
  await inspect(page, "agents-filtered");
  await page.goto(`${tenant.url}/console/agents`);
  await first!.focus();
  await page.keyboard.press("/");
  await page.keyboard.type("second");
  await expect.poll(() => first!.count(), SOON).toBe(0);
  await page.keyboard.press("Escape");
  expect(await focused(page)).toBe("Second agent");
  expect(await filter.inputValue()).toBe("second");
  await page.keyboard.press("/");
  await page.keyboard.type(" and none");
  await page.getByRole("heading", { name: "No agent matches" }).waitFor();
  await inspect(page, "agents-none");
});
