import { expect, test } from "vitest";
import { say } from "../http/service.ts";
import { openReader } from "../knowledge/library.ts";
import { SOON, WAITING } from "../workflows/tenant.ts";
import { agreeToAll, inspect, openConsole, PHONE } from "./browser.ts";

/* The next step of a person who was refused, has a file that cannot be read, or may only look. */

const { tenant, open } = await openConsole();

const SECOND_QUESTION = "And again?";

test("a refusal in the chat shows money and names, says when the budget resets, and links to the budget", async () => {
  const page = await open("chat");
  const ask = async (text: string) => {
    await page.getByLabel("Question").fill(text);
    await page.getByRole("button", { name: "Ask", exact: true }).click();
  };
  await ask("Hello?");
  await page.getByRole("heading", { name: "Answer" }).waitFor();
  await page.getByRole("status").getByText("The answer is complete.").waitFor({ state: "attached" });
  await tenant.made(tenant.owner("PUT", "/budgets/organization", { requests_per_minute: 1 }));
  await ask(SECOND_QUESTION);
  const alert = page.getByRole("alert");
  await alert.getByText("The limit of requests in a minute for the organization is reached").waitFor();
  await alert.getByText(/^Try again in [\d.]+ s\. Owners and administrators can raise it under Spending\.$/).waitFor();
  await inspect(page, "chat-rate-limited");
  await tenant.made(tenant.owner("DELETE", "/budgets/organization"));

  const { id, name } = (await tenant.made(tenant.owner("GET", "/auth/me"))).user;
  await tenant.made(tenant.owner("PUT", `/budgets/person:${id}`, { cost_per_day: "0.000001" }));
  await tenant.made(tenant.owner("PUT", "/prices/offline/echo", { prices: [{ input: "1000", output: "1000" }] }));
  const spent = async () =>
    (await tenant.owner("POST", "/openai/v1/chat/completions", say("This spends more than there is"))).status;
  await expect.poll(spent, SOON).toBe(402);
  await ask(SECOND_QUESTION);
  await alert.getByText(/has used \$0\.0\d* of \$0\.000001 \(a day\)\. It begins again at \d+ \w+ \d{4}/).waitFor();
  await inspect(page, "chat-budget-exceeded");
  await alert.getByRole("link", { name }).click();
  await page.getByRole("heading", { name: `The budget of ${name}` }).waitFor();
  await tenant.made(tenant.owner("DELETE", `/budgets/person:${id}`));
});

test("a corrected file replaces an unreadable one, and keeps its tags and readers", async () => {
  const collection = await openReader(tenant.url, tenant.credentials.api_key).collect("Contracts");
  const page = await open(`knowledge/${collection}`);
  const send = (label: string | RegExp, name: string, text: string) =>
    page.getByLabel(label).setInputFiles({ name, mimeType: "application/octet-stream", buffer: Buffer.from(text) });
  const BROKEN = "%PDF-1.7\nnothing\n";
  await send("Drop files here", "lease.pdf", BROKEN);
  await page.getByRole("button", { name: "Replace file lease.pdf" }).waitFor();
  const documents = async () =>
    (await tenant.made(tenant.owner("GET", `/v1/knowledge/collections/${collection}/documents`))).data;
  const [broken] = await documents();
  const details = { tags: ["lease"], metadata: { year: 2024 }, readers: [{ role: "owner" }] };
  await tenant.made(tenant.owner("PATCH", `/v1/knowledge/documents/${broken.id}`, details));
  await page.getByRole("link", { name: "lease.pdf" }).click();
  await page.getByText("Mend the file and replace this one").waitFor();
  await inspect(page, "document-failed");
  await expect.poll(async () => (await documents())[0].tags, SOON).toEqual(["lease"]);
  await page.reload();
  // the same bytes replace nothing
  const answered = page.waitForResponse((response) => response.request().method() === "POST");
  await send("Replacement for lease.pdf", "lease.pdf", BROKEN);
  expect((await (await answered).json()).id).toBe(broken.id);
  await expect
    .poll(async () => (await documents()).map(({ id, status }: any) => [id, status]), SOON)
    .toEqual([[broken.id, "failed"]]);
  await send("Replacement for lease.pdf", "lease.md", "# Lease\n\nThe rent is due on the first.\n");
  await page.getByRole("heading", { name: "lease.md" }).waitFor();
  await page.getByText("The rent is due on the first.").waitFor();
  const left = await documents();
  expect(left).toMatchObject([{ name: "lease.md", ...details }]);
  expect(page.url()).toContain(left[0].id);
});

test("a key is replaced without an interruption by a second one with its settings", async () => {
  const { id: project_id } = await tenant.made(tenant.owner("POST", "/projects", { name: "Shop" }));
  const settings = { products: ["knowledge"], allowed_models: ["offline/echo"], client_tools: true };
  const { id } = await tenant.newKey({ name: "Shop window", project_id, ...settings });
  const page = await open(`keys/${id}`);
  await page.getByRole("link", { name: "second key" }).click();
  await page.getByText("Give the program the new secret.").waitFor();
  await inspect(page, "key-second");
  await page.getByRole("button", { name: "Create key" }).click();
  await page.getByText("It is shown only now.").waitFor();
  const keys = (await tenant.made(tenant.owner("GET", "/keys?limit=500"))).data;
  const both = keys.filter(({ name }: { name: string }) => name === "Shop window");
  expect(both).toHaveLength(2);
  for (const key of both) expect(key).toMatchObject({ enabled: true, project_id, ...settings });
});

test("Home names the models that failed today, and links to those requests", async () => {
  const provider = { api_key: "sk-1", base_url: "http://127.0.0.1:9/v1" };
  await tenant.made(tenant.owner("PUT", "/providers/openai", provider));
  await tenant.key("POST", "/openai/v1/chat/completions", say("Hello", { model: "openai/gpt-none" }));
  const page = await open("");
  const failed = page.getByRole("region", { name: "Failed today, by model" });
  await failed.getByText(/^\d (failed|refused)/).waitFor();
  await inspect(page, "home-failed-models");
  const read: string[] = [];
  page.on("request", (request) => void read.push(request.url()));
  const count = (limit: number) =>
    read.filter((url) => url.includes("/turns?") && url.includes(`limit=${limit}`)).length;
  for (const n of [1, 2, 3]) {
    await tenant.made(tenant.key("POST", "/openai/v1/chat/completions", say(`Hello ${n}`)));
    await expect.poll(() => count(1), SOON).toBeGreaterThanOrEqual(n);
  }
  expect(count(500), "five hundred requests are not read again with each new one").toBeLessThanOrEqual(2);
  await failed.getByRole("link", { name: "openai/gpt-none" }).click();
  await page.getByRole("row", { name: "openai/gpt-none" }).first().waitFor();
  await page.getByText("Nothing of it is kept; the answer told its caller why.").first().waitFor();
  await page.getByRole("link", { name: "Its log" }).first().click();
  await page.getByRole("heading", { name: "Log" }).waitFor();
  await page.locator("[data-row]").first().waitFor();
});

test("viewers and approvers are offered no action that their role forbids", async () => {
  const viewer = await tenant.member("viewer");
  const page = await open("", { email: viewer.email });
  await page.getByRole("heading", { name: "What you can look at" }).waitFor();
  await inspect(page, "home-viewer");
  expect(await page.getByRole("heading", { name: "Try it" }).count()).toBe(0);
  await page.getByRole("link", { name: "Requests" }).click();
  await page.getByRole("heading", { name: "You have asked nothing" }).waitFor();
  await page.getByText("You see your own requests.").waitFor();
  await inspect(page, "requests-viewer");
  await page.getByRole("link", { name: "Extractions" }).click();
  await page.getByText("A program sends it to").waitFor();
  expect(await page.getByText("Drop a file above").count()).toBe(0);
  await page.getByRole("link", { name: "Schedules" }).click();
  await page.getByText("Builders and administrators set when runs start.").waitFor();

  const approver = await tenant.member("approver");
  const phone = await open("", { email: approver.email, viewport: PHONE });
  await phone.getByRole("heading", { name: "Inbox" }).waitFor();
  expect(await phone.getByRole("link", { name: "Home" }).count()).toBe(0);
});

test("an approver cancels a run on its page, where a viewer has no button for it", async () => {
  const run = await tenant.start(await tenant.register(WAITING, {}, { name: "Endless" }));
  const look = async (role: "approver" | "viewer") => {
    const page = await open(`runs/${run}`, { email: (await tenant.member(role)).email });
    await page.getByRole("heading", { name: "Endless" }).waitFor();
    return { page, cancel: page.getByRole("button", { name: "Cancel run" }) };
  };
  expect(await (await look("viewer")).cancel.count()).toBe(0);
  const { page, cancel } = await look("approver");
  agreeToAll(page);
  await cancel.click();
  await page.getByText("Cancelled by").waitFor();
  expect((await tenant.untilOver(run)).status).toBe("cancelled");
});

test("a page after the last one of a list says so, and leads back to the first page", async () => {
  const shelf = await openReader(tenant.url, tenant.credentials.api_key).collect("Short");
  const page = await open("");
  const lists: [path: string, what: string][] = [
    ["members?page=7", "members"],
    ["keys?page=7", "keys"],
    ["inbox?page=7", "approvals"],
    ["extractions?page=7", "extractions"],
    ["usage?page=7", "rows"],
    ["privacy?section=holds&page=7", "holds"],
    [`knowledge/${shelf}?page=7`, "documents"],
  ];
  for (const [path, what] of lists) {
    await page.goto(`${tenant.url}/console/${path}`);
    await page.getByRole("heading", { name: `There are no more ${what}` }).waitFor();
    await inspect(page, `past-end-of-${what}`);
    await page.getByRole("link", { name: "the first page" }).click();
    await expect.poll(() => page.url(), SOON).not.toContain("page=");
    await expect.poll(() => page.getByText("There are no more").count(), SOON).toBe(0);
  }
});

test("the API reference opens with a query, and without the trailing slash of its address", async () => {
  const page = await open("");
  const missing: string[] = [];
  page.on("response", (response) => {
    if (response.status() === 404) missing.push(response.url());
  });
  for (const path of ["/reference/?from=docs", "/reference?from=docs"]) {
    await page.goto(tenant.url + path);
    await page.getByRole("heading", { name: "Assistant platform" }).waitFor();
  }
  expect(missing).toEqual([]);
});
