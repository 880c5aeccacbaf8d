import type { Locator } from "playwright-core";
import { expect, test } from "vitest";
import { seed } from "../../cli/seed.ts";
import { say } from "../http/service.ts";
import { openReader } from "../knowledge/library.ts";
import { openSourceSite } from "../knowledge/sourceSite.ts";
import { SOON, WAITING } from "../workflows/tenant.ts";
import { agreeToAll, inspect, openConsole, PHONE } from "./browser.ts";
import { button, countClicks, link } from "./clicks.ts";

/* More things than the twelve, most of them on screens that came later: each from Home by clicks alone, and none with more clicks than here. */

const site = await openSourceSite();
const { tenant, open } = await openConsole({ PRIVATE_FETCH_HOSTS: site.host, SOURCE_DELAY_MS: "100" });
await seed(tenant.url, tenant.credentials);

const { click, enter, choose, drop, done, total } = countClicks();
/** The last of the choices of a list: its label. */
const lastOf = async (list: Locator): Promise<string> => (await list.locator("option").last().textContent())!;

test("13. keep a conversation for a court", async () => {
  await tenant.made(tenant.key("POST", "/openai/v1/chat/completions", say("I shall sue you")));
  const page = await open();
  await click(link(page, "Requests"));
  await click(link(page, /^I shall sue you/));
  await click(link(page, "place a hold"));
  await enter(page.getByRole("textbox", { name: "Name" }), "Case 7");
  await enter(page.getByLabel("Reason"), "A letter of a lawyer");
  await click(button(page, "Place hold"));
  await page.getByRole("row", { name: "Case 7" }).waitFor();
  await done(page, "13", 6);
});

test("14. see why a key is refused, and grant it more", async () => {
  const { id, call } = await tenant.newKey({ name: "Website" });
  await tenant.made(tenant.owner("PUT", `/budgets/key:${id}`, { tokens_per_day: 5 }));
  await call("POST", "/openai/v1/chat/completions", say("This uses up what is left"));
  const refused = async () => (await call("POST", "/openai/v1/chat/completions", say("Refused"))).status;
  await expect.poll(refused, SOON).toBe(402);
  const page = await open();
  await click(link(page, "1 budget"));
  await page.getByText("used up").first().waitFor();
  await click(page.getByRole("row").getByRole("link", { name: "Website" }));
  await enter(page.getByLabel("Tokens a day"), "100000");
  await click(button(page, "Save budget"));
  await expect.poll(refused, SOON).toBe(200);
  await done(page, "14", 4);
});

test("15. have a website read into a collection, and see which page failed", async () => {
  site.pages.set("/tides.html", "High tide is at noon.");
  site.pages.set("/sitemap.xml", site.sitemap("/tides.html", "/missing.html"));
  await openReader(tenant.url, tenant.credentials.api_key).collect("Sea");
  const page = await open();
  await click(link(page, "Knowledge"));
  await click(link(page, /^Sea/));
  await click(link(page, "Sources"));
  await enter(page.getByLabel("Address"), site.url("/sitemap.xml"));
  await click(button(page, "Add source"));
  await page.getByText("1 failed").waitFor();
  await click(link(page, /sitemap\.xml/));
  await page.getByText("The server answered 404.").waitFor();
  await done(page, "15", 6);
});

test("16. start a workflow every Monday at nine, and see when that is", async () => {
  const page = await open();
  await click(link(page, "Schedules"));
  await choose(page.getByRole("combobox", { name: "Workflow" }), "Refund (example)");
  await enter(page.getByLabel("Name", { exact: true }), "Mondays");
  await choose(page.getByLabel("How often"), "every week");
  await enter(page.getByLabel("Time", { exact: true }), "09:00");
  await page.getByText("Starts every Monday at 09:00").waitFor();
  expect(await page.locator("form").getByRole("listitem").count()).toBe(5);
  await enter(page.getByLabel(/^order/i), "A-17");
  await enter(page.getByLabel(/^amount/i), "40");
  await click(button(page, "Add schedule"));
  await page.getByRole("row", { name: "Mondays" }).getByText("every Monday at 09:00").waitFor();
  await done(page, "16", 8);
});

test("17. run a workflow again from the step that was wrong", async () => {
  const page = await open();
  agreeToAll(page);
  await click(link(page, "Runs"));
  await click(page.getByRole("row", { name: "completed" }).getByRole("link").first());
  await click(
    page
      .getByRole("main")
      .getByRole("link", { name: /^refund/ })
      .first(),
  );
  await click(button(page, "New run from this step"));
  await page.getByText("Forked from").waitFor();
  await done(page, "17", 4);
});

test("18. turn a file into text", async () => {
  const page = await open();
  await click(link(page, "Extractions"));
  await drop(page.getByLabel("Drop files here"), "words.md", "text/markdown", "# Title\n\nSome words.\n");
  await click(link(page, "words.md"));
  await page.getByText("Some words.").waitFor();
  await done(page, "18", 3);
});

test("19. let a group of people decide", async () => {
  const page = await open();
  await click(link(page, "Settings"));
  await click(link(page, "Groups"));
  await enter(page.getByRole("textbox", { name: "Name" }), "finance");
  await click(page.getByLabel("Administrator"));
  await click(button(page, "Create group"));
  await page.getByRole("row", { name: "finance" }).waitFor();
  await done(page, "19", 5);
});

test("20. keep a proof of what the log says today", async () => {
  const page = await open();
  await click(link(page, "Log"));
  await click(link(page, "Verify the chain"));
  await page.getByText("are what was written.").waitFor();
  await click(link(page, "this address with the hash"));
  await page.getByText("This is the hash that was kept").waitFor();
  await done(page, "20", 3);
});

test("21. undo a setting of an agent", async () => {
  const agent = await tenant.made(tenant.owner("POST", "/agents", { name: "Helper", instructions: "Be kind." }));
  await tenant.made(tenant.owner("PATCH", `/agents/${agent.id}`, { instructions: "Be rude." }));
  const page = await open();
  agreeToAll(page);
  await click(link(page, "Agents"));
  await click(link(page, "Helper"));
  await click(link(page, "2 versions"));
  const versions = page.getByRole("combobox", { name: "Version" });
  await choose(versions, await lastOf(versions));
  // the first version is shown whole
  await page.getByText("Be kind.").waitFor();
  await inspect(page, "agent-go-back");
  await click(button(page, "Go back to version 1"));
  await page.getByText("What version 3 has").waitFor();
  const { instructions } = await tenant.made(tenant.owner("GET", `/agents/${agent.id}`));
  expect(instructions).toBe("Be kind.");
  await done(page, "21", 5);
});

test("22. find what a person decided", async () => {
  const { id } = await tenant.made(
    tenant.owner("POST", "/members", { email: "dee@example.org", name: "Dee", role: "approver" }),
  );
  const page = await open();
  await click(link(page, /^Inbox/));
  await click(page.locator("[data-row]").first());
  await click(button(page, "Reject"));
  await page.getByText("Rejected by").waitFor();
  await page.goto(`${tenant.url}/console/`);
  const before = total();
  await click(link(page, "Members"));
  await click(link(page, "Administrator"));
  await click(link(page, "what they decided"));
  await page.getByText("decided by Administrator").first().waitFor();
  await inspect(page, "inbox-decided-by");
  await page.reload();
  await page.getByText("decided by Administrator").first().waitFor();
  expect(total() - before).toBe(3);
  await page.getByLabel("Decided by").selectOption("Dee");
  await page.getByRole("heading", { name: "Nothing was decided by them" }).waitFor();
  expect(page.url()).toContain(id);
});

test("23. rotate a key", async () => {
  await tenant.newKey({ name: "Shop" });
  const page = await open();
  agreeToAll(page);
  await click(link(page, "Keys"));
  await click(link(page, /^Shop/));
  await click(button(page, "New secret"));
  await page.getByText("It is shown only now.").waitFor();
  await done(page, "23", 3);
});

test("24. stop a runaway run from a phone", async () => {
  const run = await tenant.start(await tenant.register(WAITING, {}, { name: "Runaway" }));
  const page = await open("", { viewport: PHONE });
  agreeToAll(page);
  await click(button(page, "More"));
  await click(link(page, "Runs"));
  await click(link(page, /^Runaway/));
  await click(button(page, "Cancel run"));
  await page.getByText("Cancelled by").waitFor();
  expect((await tenant.untilOver(run)).status).toBe("cancelled");
  await done(page, "24", 4);
});

test("25. see what is left of somebody who was removed, and who removed them", async () => {
  const { id } = await tenant.member("builder", "lee");
  await tenant.owner("DELETE", `/members/${id}`);
  const page = await open();
  await click(link(page, "Members"));
  await click(link(page, "Former members"));
  await inspect(page, "members-former");
  await click(link(page, /^former builder, only on/));
  await page.getByRole("heading", { name: /^Former builder/ }).waitFor();
  await page.getByText("removed by Administrator").waitFor();
  expect(await page.getByText("lee.", { exact: false }).count()).toBe(0);
  await inspect(page, "member-former");
  await done(page, "25", 3);
});

test("26. retry a question that a program asked", async () => {
  await tenant.made(tenant.key("POST", "/openai/v1/chat/completions", say("Which question was it?")));
  const page = await open();
  await click(link(page, "Requests"));
  await click(link(page, /^Which question was it/));
  await click(link(page, "Ask it again"));
  await expect.poll(() => page.getByLabel("Question").inputValue(), SOON).toBe("Which question was it?");
  await click(button(page, "Ask"));
  await page.getByRole("link", { name: "Why this answer?" }).first().waitFor();
  await done(page, "26", 4);
});

test("27. see in the log who did what", async () => {
  await tenant.newAgent({ name: "Seen in the log" });
  const page = await open();
  await click(link(page, "Log"));
  const { name } = (await tenant.made(tenant.owner("GET", "/auth/me"))).user;
  await page
    .getByRole("link", { name: /The agent .*was created/ })
    .first()
    .getByText(name)
    .waitFor();
  await done(page, "27", 1);
});

test("28. restore an older version of a workflow", async () => {
  const sourceOf = (word: string) => `export const run = () => "${word}";`;
  const workflow = await tenant.register(sourceOf("good"), {}, { name: "Restored" });
  const { id } = workflow.definition;
  await tenant.made(tenant.owner("PATCH", `/definitions/${id}`, { source: sourceOf("bad") }));
  await tenant.made(tenant.owner("PATCH", `/workflows/${workflow.id}`, { definition_version: null }));
  const page = await open();
  agreeToAll(page);
  await click(link(page, "Workflows"));
  await click(link(page, "Restored"));
  await click(link(page, "see or restore versions"));
  const versions = page.getByRole("combobox", { name: "Version", exact: true });
  await choose(versions, await lastOf(versions));
  await click(button(page, "Go back to version 1"));
  // the saved source does nothing yet, and the screen says so
  await page.getByText("A workflow uses it once it is moved there").waitFor();
  await inspect(page, "workflow-restored");
  await click(button(page, "Move to version 3"));
  await page.getByText("A workflow uses it once it is moved there").waitFor({ state: "detached" });
  expect((await tenant.untilOver(await tenant.start(workflow))).result).toBe("good");
  await done(page, "28", 6);
});
