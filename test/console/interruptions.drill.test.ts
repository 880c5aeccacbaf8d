import type { Dialog, Page } from "playwright-core";
import { expect, test } from "vitest";
import { say } from "../http/service.ts";
import { SOON, WAITING } from "../workflows/tenant.ts";
import { agreeToAll, expectAccessible, inspect, openConsole, PHONE, refuseNext } from "./browser.ts";

/* What people typed survives a lost connection, a session that ends, a reload and a wrong click. */

const { tenant, open, service } = await openConsole();

const name = (page: Page) => page.getByLabel("Name", { exact: true });

test("a page reports that the service is down, keeps typed text, and updates when the service is back", async () => {
  const page = await open("keys/new", { viewport: PHONE });
  await name(page).fill("Website");
  await page.route("**/api/**", (route) => route.abort());
  await page.getByRole("button", { name: "Create key" }).click();
  await page.getByText("The connection to the service is lost.").waitFor();
  await expectAccessible(page);
  await page.evaluate("window.scrollTo(0, document.documentElement.scrollHeight)");
  expect(await page.getByText("The connection to the service is lost.").isVisible()).toBe(true);
  await page.unroute("**/api/**");
  await expect.poll(() => page.getByText("The connection to the service is lost.").count(), SOON).toBe(0);
  expect(await name(page).inputValue()).toBe("Website");
  await page.getByRole("button", { name: "Create key" }).click();
  await page.getByText("It is shown only now.").waitFor();
});

test("a list that failed to load is loaded when the service is back", async () => {
  const page = await open("");
  await page.route("**/api/**", (route) => route.abort());
  await page.getByRole("link", { name: "Agents", exact: true }).click();
  await page.getByRole("button", { name: "Try again" }).waitFor();
  await page.unroute("**/api/**");
  await page.getByRole("link", { name: "First agent" }).waitFor();
});

test("data that cannot be loaded for a while appears without a click when it can, with one notice meanwhile", async () => {
  const page = await open("");
  let isAway = true;
  await page.route("**/api/**", (route) =>
    isAway && !route.request().url().endsWith("/auth/me")
      ? route.fulfill({ status: 503, json: { error: { message: "The database cannot be reached." } } })
      : route.continue(),
  );
  await page.goto(`${tenant.url}/console/inbox`);
  await page.getByText("The page also tries again by itself.").waitFor();
  expect(await page.getByRole("alert").count()).toBe(1);
  await inspect(page, "inbox-not-loaded");
  isAway = false;
  await page.getByRole("heading", { name: "Nothing waits for you" }).waitFor();
  expect(await page.getByRole("alert").count()).toBe(0);
});

test.each(["runs", "chat", "knowledge/documents"])("an unknown address of %s offers no retry", async (path) => {
  const page = await open(`${path}/01a21991-d0c5-7b21-8e53-000000000009`, { viewport: PHONE });
  await page.getByText("It may have been deleted, or the address may be mistyped.").waitFor();
  expect(await page.getByRole("button", { name: "Try again" }).count()).toBe(0);
  await inspect(page, `nowhere-${path.replace("/", "-")}`);
});

test("a conversation that cannot be reloaded for a while keeps the next question and its focus", async () => {
  const page = await open("chat");
  const question = page.getByLabel("Question");
  await question.fill("The first one");
  await page.keyboard.press("Enter");
  await expect.poll(() => page.url(), SOON).toMatch(/chat\/[0-9a-f-]{36}/);
  // only a complete answer offers it, and no question is sent before
  await page.getByText("Ask again").waitFor();
  await question.fill("The next one");
  let refused = 0;
  await page.route(/\/threads\//, (route) => {
    refused += 1;
    return route.fulfill({ status: 503, json: { error: { message: "The database cannot be reached." } } });
  });
  const other = await open(`chat/${new URL(page.url()).pathname.split("/").at(-1)}`);
  await other.getByText("Ask again").waitFor();
  await other.getByLabel("Question").fill("Asked elsewhere");
  await other.keyboard.press("Enter");
  // the first try and two more
  await expect.poll(() => refused, SOON).toBeGreaterThan(2);
  expect(await page.evaluate("document.activeElement.tagName")).toBe("TEXTAREA");
  await page.keyboard.type("!");
  expect(await question.inputValue()).toBe("The next one!");
  await page.unroute(/\/threads\//);
  await page.getByText("Asked elsewhere").first().waitFor();
  expect(await question.inputValue()).toBe("The next one!");
});

test("a screen that a role may not see names the people who can change the role", async () => {
  const page = await open("");
  await page.route("**/api/agents?*", (route) =>
    route.fulfill({ status: 403, json: { error: { message: "This needs another role.", code: "forbidden" } } }),
  );
  await page.getByRole("link", { name: "Agents", exact: true }).click();
  await page.getByRole("alert").getByText("This needs another role.").waitFor();
  await inspect(page, "not-allowed");
  await page.getByRole("alert").getByRole("link", { name: "See who they are" }).click();
  await page.getByRole("heading", { name: "Members" }).waitFor();
});

test("a screen whose file cannot be loaded keeps the navigation, and loads once the service is back", async () => {
  const page = await open("runs");
  await page.getByRole("heading", { name: "Runs", exact: true }).waitFor();
  await page.route("**/*", (route) => route.abort());
  await page.getByRole("link", { name: "Usage", exact: true }).click();
  await page.getByRole("heading", { name: "This screen could not be loaded" }).waitFor();
  await page.getByText("The connection to the service is lost.").waitFor();
  await page.getByRole("button", { name: "Try again" }).click();
  await inspect(page, "screen-not-loaded");
  expect(await page.getByRole("navigation", { name: "Main" }).isVisible()).toBe(true);
  await page.getByRole("link", { name: "Runs", exact: true }).click();
  await page.getByRole("heading", { name: "Runs", exact: true }).waitFor();
  await page.getByRole("link", { name: "Usage", exact: true }).click();
  await page.getByRole("heading", { name: "This screen could not be loaded" }).waitFor();
  await page.unroute("**/*");
  await page.getByRole("heading", { name: "Usage" }).waitFor();
});

test("a screen whose file stays unavailable reloads the page once by itself, and again on request", async () => {
  const page = await open("runs");
  let loads = 0;
  page.on("load", () => void loads++);
  await page.route("**/assets/Usage-*.js", (route) => route.fulfill({ status: 404 }));
  await page.getByRole("link", { name: "Usage", exact: true }).click();
  await expect.poll(() => loads, SOON).toBe(1);
  await page.getByRole("heading", { name: "This screen could not be loaded" }).waitFor();
  await page.unroute("**/assets/Usage-*.js");
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("heading", { name: "Usage" }).waitFor();
  expect(loads).toBe(2);
});

test("a screen that cannot render an answer says why, and renders once it can", async () => {
  const page = await open("");
  await page.route("**/api/workflows?*", (route) => route.fulfill({ json: { data: [{ id: "x" }], total: 1 } }));
  await page.getByRole("link", { name: "Workflows", exact: true }).click();
  await page.getByRole("heading", { name: "This screen could not be shown" }).waitFor();
  await page.getByText("Cannot ").waitFor();
  await inspect(page, "screen-not-shown");
  await page.unroute("**/api/workflows?*");
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("heading", { name: "Workflows", exact: true }).waitFor();
});

test("an expired session asks for the password above the page, which stays open", async () => {
  const page = await open("keys/new");
  await name(page).fill("Website");
  await page.context().clearCookies();
  // not with the mouse: whatever else the page reads may have opened the dialog by now
  await page.getByRole("button", { name: "Create key" }).dispatchEvent("click");
  const dialog = page.getByRole("dialog", { name: "Your session has ended" });
  await dialog.waitFor();
  await inspect(page, "session-ended");
  for (let times = 0; times < 3; times++) await page.keyboard.press("Escape");
  await expect.poll(() => dialog.isVisible(), SOON).toBe(true);
  const { email, password } = service.credentials.admin;
  await dialog.getByLabel("E-mail").fill(email);
  await dialog.getByLabel("Password").fill(password);
  await dialog.getByRole("button", { name: "Sign in" }).click();
  await expect.poll(() => dialog.count(), SOON).toBe(0);
  expect(await name(page).inputValue()).toBe("Website");
  // where it was before the dialog
  await expect.poll(() => page.evaluate("document.activeElement.name"), SOON).toBe("name");
});

test("another person who signs in sees nothing of the previous page", async () => {
  const vera = { email: "vera@example.org", name: "Vera", role: "viewer" };
  const { email, password } = await tenant.made(tenant.owner("POST", "/members", vera));
  const page = await open("chat");
  await page.getByLabel("Question").fill("Between us");
  await page.goto(`${tenant.url}/console/keys/new`);
  await name(page).fill("Website");
  await page.context().clearCookies();
  await page.getByRole("button", { name: "Create key" }).dispatchEvent("click");
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("E-mail").fill(email);
  await dialog.getByLabel("Password").fill(password);
  await dialog.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: "For administrators" }).waitFor();
  // while the page is loaded again, nothing can be read
  const stored = () => page.evaluate("JSON.stringify({ ...sessionStorage })").catch(() => "Between us");
  await expect.poll(stored, SOON).not.toContain("Between us");
});

test("leaving an unsent form asks first, and leaving a saved one does not", async () => {
  const page = await open("keys/new");
  const asked = refuseNext(page);
  await name(page).fill("Website");
  await page.getByRole("link", { name: "Agents", exact: true }).click();
  await expect.poll(() => asked, SOON).toEqual(["Leave the page? What you wrote is not saved."]);
  expect(await name(page).inputValue()).toBe("Website");
  await page.getByRole("button", { name: "Create key" }).click();
  await page.getByText("It is shown only now.").waitFor();
  await page.getByRole("link", { name: "Agents", exact: true }).click();
  await page.getByRole("heading", { name: "Agents" }).waitFor();
});

test("leaving a comment, a name or an upload in progress asks first, too", async () => {
  const ask = await tenant.register(WAITING);
  const [{ id }] = await tenant.pending(await tenant.start(ask));
  const page = await open(`inbox/${id}`);
  const asked: string[] = [];
  const later = page.getByRole("link", { name: "Agents", exact: true });
  const keep = (dialog: Dialog) => {
    asked.push(dialog.message());
    void dialog.dismiss();
  };
  page.on("dialog", keep);
  await page.getByText("Comment without deciding").click();
  await page.getByLabel("Message").fill("Not yet");
  await later.click();
  await expect.poll(() => asked.length, SOON).toBe(1);
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByRole("region", { name: "Discussion" }).getByText("Not yet").waitFor();
  await page.getByRole("link", { name: "Knowledge", exact: true }).click();
  await page.getByLabel("Name of a new collection").fill("Slow files");
  await later.click();
  await expect.poll(() => asked.length, SOON).toBe(2);
  await page.route(/collections\/[^/]+\/documents$/, (route) =>
    route.request().method() === "POST" ? undefined : route.continue(),
  );
  await page.getByRole("button", { name: "Create collection" }).click();
  await page
    .getByLabel("Drop files here")
    .setInputFiles({ name: "a.md", mimeType: "text/markdown", buffer: Buffer.from("A") });
  await page.getByLabel("Sending a.md").waitFor();
  await later.click();
  await expect.poll(() => asked.at(-1), SOON).toContain("still being sent");
  page.off("dialog", keep);
  agreeToAll(page);
  await later.click();
  await page.getByRole("heading", { name: "Agents", exact: true }).waitFor();
  expect(asked.length).toBe(3);
});

test("failed reads and writes are reported, and a person with a valid session is not signed out", async () => {
  const workflow = await tenant.register(WAITING, {}, { name: "Unread" });
  const run = await tenant.start(workflow);
  const source = `definitions/${workflow.definition.id}`;
  const [{ id }] = await tenant.pending(run);
  const page = await open(`inbox/${id}`);
  for (const what of ["comments", "links", "workflow-definitions", "logout"])
    await page.route(new RegExp(`/${what}(\\?|$)`), (route) =>
      route.fulfill({ status: 422, json: { error: { message: `No ${what} today` } } }),
    );
  const says = (what: string) => page.getByRole("alert").getByText(`No ${what} today`).waitFor();
  await page.reload();
  await says("comments");
  await page.getByText("Share a link").click();
  await says("links");
  await page.goto(`${tenant.url}/console/workflows/${workflow.id}`);
  await page.getByRole("heading", { name: "Start a run" }).waitFor();
  await says("workflow-definitions");
  for (const [what, path] of Object.entries({ files: `runs/${run}`, workflows: "schedules", check: source })) {
    await page.route(new RegExp(`/${what}(\\?|$)`), (route) =>
      route.fulfill({ status: 422, json: { error: { message: `No ${what} today` } } }),
    );
    await page.goto(`${tenant.url}/console/${path}`);
    if (what === "check") await page.getByText("The source could not be checked").waitFor();
    else await says(what);
  }
  await page.getByRole("button", { name: "Sign out" }).click();
  await says("logout");
  await page.unrouteAll();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
});

test("an unsent question and an unsent comment survive a reload, and are gone for the next person", async () => {
  const ask = await tenant.register(`export const run = (ctx) => ctx.awaitApproval("boss", { title: "May I?" });`);
  const [{ id }] = await tenant.pending(await tenant.start(ask));
  const page = await open(`inbox/${id}`, { viewport: PHONE });
  await page.getByLabel("Comment (optional)").fill("Only this once");
  await page.reload();
  await expect.poll(() => page.getByLabel("Comment (optional)").inputValue(), SOON).toBe("Only this once");
  await page.getByRole("button", { name: "Approve" }).click();
  await page.getByText("“Only this once”").first().waitFor();
  await page.getByRole("link", { name: "Chat", exact: true }).click();
  await page.getByLabel("Question").fill("What about");
  await page.reload();
  await expect.poll(() => page.getByLabel("Question").inputValue(), SOON).toBe("What about");
  await page.getByRole("button", { name: "More" }).click();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  expect(await page.evaluate("Object.keys(sessionStorage).filter((key) => key.startsWith('draft'))")).toEqual([]);
});

test("the title of the page names its screen, and the focus moves into an opened screen", async () => {
  const page = await open("");
  agreeToAll(page);
  await expect.poll(() => page.title(), SOON).toBe("Home – Console");
  await page.getByRole("link", { name: "Agents", exact: true }).focus();
  await page.keyboard.press("Enter");
  await expect.poll(() => page.title(), SOON).toBe("Agents – Console");
  await expect.poll(() => page.evaluate("document.activeElement.id"), SOON).toBe("main");
  await page.locator("main [data-row]").first().waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "← Agents" }).waitFor();
  expect(await page.title()).not.toBe("Agents – Console");
});

test("going back returns to the previous place in the list", async () => {
  await Promise.all(
    Array.from({ length: 40 }, (_, n) => tenant.key("POST", "/openai/v1/chat/completions", say(`Q${n}`))),
  );
  const page = await open("requests", { viewport: PHONE });
  await expect.poll(() => page.locator("[data-row]").count(), SOON).toBeGreaterThanOrEqual(40);
  const row = page.locator("[data-row]").nth(30);
  await row.scrollIntoViewIfNeeded();
  const place = await page.evaluate("scrollY");
  expect(place).toBeGreaterThan(500);
  await row.click();
  await page.getByRole("link", { name: "← Requests" }).waitFor();
  expect(await page.evaluate("scrollY")).toBe(0);
  await page.goBack();
  await expect.poll(() => page.evaluate("scrollY"), SOON).toBe(place);
});

test("concurrent changes of tool approval rules by two people are not lost without a notice", async () => {
  const workflow = await tenant.register(WAITING);
  const page = await open(`workflows/${workflow.id}`);
  const hosts = page.getByLabel("Hosts that steps may fetch from");
  await hosts.fill("mine.example");
  await tenant.edit(workflow, { envelope: { egress: ["theirs.example"] } });
  await page.getByText("Somebody else has changed these rules.").waitFor();
  expect(await hosts.inputValue()).toBe("mine.example");
  await inspect(page, "envelope-changed-elsewhere");
  await page.getByRole("button", { name: "Show their rules" }).click();
  await expect.poll(() => hosts.inputValue(), SOON).toBe("theirs.example");
  expect(await page.getByText("Somebody else has changed these rules.").count()).toBe(0);
});

test("on a slow network a loading screen and a question that is being sent are announced", async () => {
  const page = await open("");
  const held: (() => void)[] = [];
  const hold = (path: string) =>
    page.route(path, async (route) => {
      await new Promise<void>((resolve) => held.push(resolve));
      await route.continue();
    });
  await hold("**/assets/Chat-*.js");
  await page.getByRole("link", { name: "Chat", exact: true }).click();
  await page.getByText("Opening the screen…").waitFor({ state: "attached" });
  expect(await page.getByRole("heading", { name: "Home" }).isVisible()).toBe(true);
  held.pop()!();
  await page.getByLabel("Question").fill("Hello");
  await expect.poll(() => page.getByText("Opening the screen…").count(), SOON).toBe(0);
  await hold("**/v1/**");
  await page.getByRole("button", { name: "Ask", exact: true }).click();
  await page.getByText("Sending your question…").waitFor();
  await expect.poll(() => held.length, SOON).toBeGreaterThan(0);
  await page.unroute("**/v1/**");
  for (const go of held) go();
  await page.getByText("Hello").first().waitFor();
});
