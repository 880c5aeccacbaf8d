import { expect, test } from "vitest";
import { signIn } from "../agents/agents.ts";
import { say } from "../http/service.ts";
import { SOON } from "../soon.ts";
import { agreeToAll, HOSTILE, inspect, openConsole } from "./browser.ts";

/* Deleting single things: documents, collections, conversations, and what a person owns. */

const { tenant, open } = await openConsole();

test("a collection gets a text, is renamed, loses the document, and is deleted after a typed confirmation", async () => {
  const { slug } = await tenant.made(tenant.owner("POST", "/v1/knowledge/collections", { name: "Handbook" }));
  const page = await open(`knowledge/${slug}`);
  agreeToAll(page);
  await page.getByText("Write a text").click();
  await page.getByLabel("Name of the text").fill("holidays.md");
  await page.getByLabel("Text, as Markdown").fill(`# Holidays\n\nEverybody gets **24 days**.\n\n${HOSTILE}`);
  await page.getByRole("button", { name: "Add text" }).click();
  await page.getByRole("link", { name: "holidays.md" }).waitFor();
  await page.getByText("Name, description, delete").click();
  await page.getByLabel("Name", { exact: true }).fill(`Rules ${HOSTILE}`.slice(0, 120));
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("heading", { name: "Rules" }).waitFor();
  await inspect(page, "collection-forms");
  await page.getByRole("link", { name: "holidays.md" }).click();
  await page.locator(".words strong", { hasText: "24 days" }).waitFor();
  await page.getByText(HOSTILE).first().waitFor();
  await inspect(page, "document-formatted");
  await page.getByRole("button", { name: "Raw text" }).click();
  await page.getByText("Everybody gets **24 days**.").waitFor();
  await page.getByText("Details, readers and your own metadata").click();
  await page.getByRole("button", { name: "Delete the document" }).click();
  await page.getByRole("heading", { name: "This collection is empty" }).waitFor();
  await page.getByText("Name, description, delete").click();
  const remove = page.getByRole("button", { name: "Delete the collection and its documents" });
  await remove.click();
  await page.getByRole("alert").getByText("Nothing was done.").waitFor();
  await page.getByLabel("Type delete to confirm").fill("delete");
  await remove.click();
  await page.getByRole("heading", { name: "There are no collections yet" }).waitFor();
});

test("a person deletes a conversation on its own page", async () => {
  const { call } = await signIn(tenant.url, tenant.credentials.admin);
  const answer = await call("POST", "/openai/v1/chat/completions", say("Remember this"));
  const page = await open(`chat/${answer.headers.get("x-thread-id")}`);
  agreeToAll(page);
  await page.getByRole("button", { name: "Delete conversation" }).click();
  await page.getByRole("heading", { name: "New conversation" }).waitFor();
  await expect.poll(async () => (await tenant.made(tenant.owner("GET", "/threads"))).data, SOON).toEqual([]);
});

test("an administrator deletes one thread of a key, and sees the key's files and responses", async () => {
  const keys = await tenant.made(tenant.owner("GET", "/keys"));
  await tenant.made(tenant.key("POST", "/openai/v1/chat/completions", say(`One ${HOSTILE}`)));
  await tenant.made(tenant.key("POST", "/openai/v1/chat/completions", say("Two")));
  const page = await open("privacy?section=contents");
  agreeToAll(page);
  await page.getByLabel("About").selectOption("an API key");
  await page.getByLabel("Which one").selectOption(keys.data[0].id);
  await page.getByRole("button", { name: "Show" }).click();
  await page.getByText("One <img").first().waitFor();
  await inspect(page, "contents");
  await page.getByRole("row", { name: /Two/ }).getByRole("button", { name: "Delete" }).click();
  await expect.poll(() => page.getByRole("row").count(), SOON).toBe(2);
  await page.getByRole("link", { name: "files" }).click();
  await page.getByRole("heading", { name: "There are no files" }).waitFor();
  await page.reload();
  await page.getByRole("heading", { name: "There are no files" }).waitFor();
  await page.getByRole("link", { name: "responses" }).click();
  await page.getByRole("heading", { name: "There are no responses" }).waitFor();
});

test("a group gets members, is changed and removed", async () => {
  const { id } = await tenant.made(
    tenant.owner("POST", "/members", { email: "gil@example.org", name: `Gil ${HOSTILE}`, role: "approver" }),
  );
  const page = await open("settings?section=groups");
  agreeToAll(page);
  await page.getByRole("heading", { name: "There are no groups" }).waitFor();
  await page.getByLabel("Name").fill("legal");
  await page.getByRole("button", { name: "Create group" }).click();
  await page.getByRole("alert").getByText("code invalid_members").waitFor();
  await page.getByLabel(`Gil ${HOSTILE}`).check();
  await page.getByRole("button", { name: "Create group" }).click();
  await page.getByRole("link", { name: "legal" }).click();
  await page.getByRole("heading", { name: "Who is in legal" }).waitFor();
  await expect.poll(() => page.getByLabel(`Gil ${HOSTILE}`).isChecked(), SOON).toBe(true);
  await inspect(page, "groups");
  expect((await tenant.made(tenant.owner("GET", "/groups/legal"))).members).toMatchObject([{ id }]);
  await page.getByRole("button", { name: "Remove" }).click();
  await page.getByRole("heading", { name: "There are no groups" }).waitFor();
});
