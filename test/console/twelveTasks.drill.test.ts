import { expect, test } from "vitest";
import { seed } from "../../cli/seed.ts";
import { signIn } from "../agents/agents.ts";
import { say } from "../http/service.ts";
import { SOON, workflowSource } from "../workflows/tenant.ts";
import { agreeToAll, openConsole, PHONE } from "./browser.ts";
import { button, countClicks, link } from "./clicks.ts";

/*
 * Twelve frequent tasks, each done from Home by clicks alone, as on a first visit. If a task needs more clicks than here, it has become
 * harder.
 */

const { tenant, open } = await openConsole();
await seed(tenant.url, tenant.credentials);

const { click, enter, choose, drop, done } = countClicks();

test("1. ask the handbook, and see the cited passage", async () => {
  const ready = "/v1/knowledge/collections/handbook/documents?status=ready";
  await expect.poll(async () => (await tenant.made(tenant.owner("GET", ready))).total, SOON).toBe(3);
  const page = await open();
  await click(link(page, "Ask"));
  await click(button(page, "Ask"));
  await click(link(page, "[1]"));
  await page.locator("mark").first().waitFor();
  await done(page, "1", 3);
});

test("2. find out why the newest answer cited its sources", async () => {
  const page = await open();
  await click(link(page, "Why the newest answer?"));
  await page.getByRole("heading", { name: "Sources" }).waitFor();
  await page
    .getByText(/, result \d of \d+ of search_documents$/)
    .first()
    .waitFor();
  await click(page.getByRole("region", { name: "Answer", exact: true }).getByRole("link").first());
  await page.locator("mark").first().waitFor();
  // the newest text, even if a citation names its version, is beside its original
  await page.getByRole("link", { name: "Text and original" }).waitFor();
  await done(page, "2", 2);
});

test("3. which key spent most yesterday", async () => {
  await tenant.made(tenant.key("POST", "/openai/v1/chat/completions", say("Hello")));
  const page = await open();
  await click(link(page, "Usage"));
  await click(link(page, "Yesterday"));
  await click(link(page, "by key"));
  await page
    .getByRole("heading", { name: /Nothing was used/ })
    .or(page.getByRole("table"))
    .first()
    .waitFor();
  await done(page, "3", 3);
});

test("4. approve the oldest request, on a phone", async () => {
  const ask = await tenant.register(
    `export const run = (ctx) => ctx.awaitApproval("boss", { title: "A later question?" });`,
  );
  await tenant.pending(await tenant.start(ask));
  const page = await open("", { viewport: PHONE });
  await click(link(page, /^Inbox/));
  await expect
    .poll(() => page.locator("[data-row] .row-title").first().textContent(), SOON)
    .toBe("Refund 900 for A-18?");
  await click(page.locator("[data-row]").first());
  await click(button(page, "Approve"));
  await page.getByText("Approved by").waitFor();
  await done(page, "4", 3);
});

test("5. which runs failed at the same step", async () => {
  const source = workflowSource(`await ctx.runStep("keep");`, "keep: () => { throw new Error('full') }");
  const workflow = await tenant.register(source, {}, { name: "Import" });
  for (const _ of [1, 2]) await tenant.untilOver(await tenant.start(workflow));
  const page = await open();
  await click(link(page, /failed runs?$/));
  await expect.poll(() => page.url(), SOON).toContain("from=");
  await click(link(page, "keep"));
  await page.getByText("2 runs").waitFor();
  await done(page, "5", 2);
});

test("6. delete everything that a former member wrote", async () => {
  const { id, email, password } = await tenant.made(
    tenant.owner("POST", "/members", { email: "left@example.org", name: "Lee Left", role: "builder" }),
  );
  const { call } = await signIn(tenant.url, { email, password });
  await tenant.made(call("POST", "/openai/v1/chat/completions", say("Secret")));
  await tenant.owner("DELETE", `/members/${id}`);
  const page = await open();
  agreeToAll(page);
  await click(link(page, "Members"));
  await click(link(page, "Former members"));
  await page.getByRole("link", { name: /^former builder, only on/ }).waitFor();
  await click(link(page, "delete what they said"));
  await enter(page.getByLabel(/to confirm/), "erase");
  await click(button(page, "Erase for good"));
  await page.getByText("1 conversation, 0 files").first().waitFor();
  await done(page, "6", 5);
});

test("7. find the request behind an id that a customer sent", async () => {
  const answer = await tenant.key("POST", "/openai/v1/chat/completions", say("What is due?"));
  const page = await open();
  await click(button(page, "Go to…"));
  await enter(page.getByRole("searchbox"), answer.headers.get("x-request-id")!);
  await click(page.getByRole("dialog").getByRole("link").first());
  await page.getByRole("heading", { name: "Request" }).waitFor();
  await done(page, "7", 3);
});

test("8. add a file to the handbook, and see why it cannot be read", async () => {
  const page = await open();
  await click(link(page, "Knowledge"));
  await click(link(page, /^Handbook/));
  await drop(page.getByLabel("Drop files here"), "broken.pdf", "application/pdf", "%PDF-1.7\nnothing\n");
  await button(page, "Try again to read broken.pdf").waitFor();
  await page.locator(".bad-text").first().waitFor();
  await done(page, "8", 3);
});

test("9. create a key for one model", async () => {
  const page = await open();
  await click(link(page, "Keys"));
  await click(link(page, "New key"));
  // the list has a filter of this name
  await page.getByRole("heading", { name: "New key" }).waitFor();
  await enter(page.getByLabel("Name"), "Website");
  await click(page.getByLabel("Only these"));
  await enter(page.getByLabel("Allowed models"), "offline/echo");
  await click(button(page, "Create key"));
  await page.getByText("It is shown only now.").waitFor();
  await done(page, "9", 6);
});

test("10. start a workflow on every weekday", async () => {
  const page = await open();
  await click(link(page, "Schedules"));
  await choose(page.getByRole("combobox", { name: "Workflow" }), "Refund (example)");
  await enter(page.getByLabel("Name", { exact: true }), "Weekdays");
  await enter(page.getByLabel(/^order/i), "A-17");
  await enter(page.getByLabel(/^amount/i), "40");
  await click(button(page, "Add schedule"));
  await page.getByRole("row", { name: "Weekdays" }).waitFor();
  await done(page, "10", 6);
});

test("11. change the instructions of an agent, and see the difference", async () => {
  const page = await open();
  await click(link(page, "Agents"));
  await click(link(page, "Handbook"));
  await enter(page.getByLabel("Instructions"), "Answer in one sentence, and cite the passage.");
  await click(button(page, "Save"));
  await click(link(page, "2 versions"));
  await page.getByText("Answer in one sentence, and cite the passage.").first().waitFor();
  await done(page, "11", 5);
});

test("12. prove that the log is unchanged up to the approval", async () => {
  const page = await open();
  await click(link(page, "Log"));
  await choose(page.getByLabel("Type"), "ApprovalDecided");
  await click(page.locator("[data-row]").first());
  await click(link(page, "Verify the chain up to here"));
  await page.getByText("are what was written.").waitFor();
  await done(page, "12", 4);
});
