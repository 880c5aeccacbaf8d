import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { openReader } from "../knowledge/library.ts";
import { SOON } from "../soon.ts";
import { agreeToAll, inspect, openConsole } from "./browser.ts";

/* A form keeps the settings that it does not show, and applies every limit that it shows. */

const { tenant, open } = await openConsole();
const reader = openReader(tenant.url, tenant.credentials.api_key);

/** The form refuses to overwrite, and its link leads to the stored item. */
async function seesStored(page: Page, button: string): Promise<void> {
  await page.getByRole("button", { name: button }).click();
  await page.getByRole("alert").getByText("is there already, and would be replaced").waitFor();
  await page.getByRole("link", { name: "See and change it" }).click();
  await expect.poll(() => page.getByRole("alert").count(), SOON).toBe(0);
}

test("a form for a new item does not overwrite an existing item with the same name", async () => {
  const { owner, made } = tenant;
  await made(owner("PUT", "/budgets/organization", { tokens_per_day: 7, cost_per_month: "12" }));
  const { id: me } = (await made(owner("GET", "/auth/me"))).user;
  await made(owner("PUT", "/groups/legal", { members: [me] }));
  await made(owner("PUT", "/aliases/fast", { targets: [{ model: "offline/echo" }, { model: "offline/scripted" }] }));
  await made(owner("PUT", "/providers/acme", { api_key: "k", base_url: "http://127.0.0.1:1/v1", models: ["one"] }));
  const page = await open("spending");
  agreeToAll(page);
  await page.getByLabel("Tokens a week").fill("100");
  await seesStored(page, "Set budget");
  await page.getByRole("heading", { name: "The budget of The organization" }).waitFor();
  expect(await page.getByLabel("Tokens a day").inputValue()).toBe("7");
  await inspect(page, "budget-stored");
  await page.goto(`${tenant.url}/console/settings?section=groups`);
  await page.getByLabel("Name").fill("legal");
  await seesStored(page, "Create group");
  await page.getByRole("heading", { name: "Who is in legal" }).waitFor();
  await page.goto(`${tenant.url}/console/spending?section=aliases`);
  await page.getByLabel("Name").fill("fast");
  for (const n of [0, 1]) await page.getByLabel("Model", { exact: true }).nth(n).fill(`offline/${n}`);
  await seesStored(page, "Add alias");
  await page.getByRole("heading", { name: "Change fast" }).waitFor();
  await page.goto(`${tenant.url}/console/settings?section=providers`);
  await page.getByLabel("Name").fill("acme");
  await page.getByLabel("API key").fill("another");
  await seesStored(page, "Add provider");
  await page.getByRole("heading", { name: "Change acme" }).waitFor();
  expect((await made(owner("GET", "/budgets/organization"))).limits.length).toBe(2);
});

test("the form of a group does not overwrite what somebody else has changed, and then shows it", async () => {
  const { owner, made, member } = tenant;
  const [gil, hal] = [await member("approver", "Gil"), await member("approver", "Hal")];
  await made(owner("PUT", "/groups/shared", { members: [gil.id] }));
  const page = await open("settings?section=groups&edit=shared");
  agreeToAll(page);
  const isIn = (name: string) => page.getByLabel(name).isChecked();
  await expect.poll(() => isIn("Gil"), SOON).toBe(true);
  await made(owner("PUT", "/groups/shared", { members: [hal.id] }));
  await page.getByRole("button", { name: "Change group" }).click();
  await page.getByRole("alert").getByText("code group_changed").waitFor();
  await expect.poll(async () => [await isIn("Gil"), await isIn("Hal")], SOON).toEqual([false, true]);
  await page.getByLabel("Gil").check();
  await page.getByRole("button", { name: "Change group" }).click();
  const members = async () => (await made(owner("GET", "/groups/shared"))).members.map(({ id }: any) => id).toSorted();
  await expect.poll(members, SOON).toEqual([gil.id, hal.id].toSorted());
});

test("an entry turns on the switch that it needs, and turning the switch off clears the entries", async () => {
  const shelf = await reader.collect("Limited");
  const id = await reader.pushed(shelf, { name: "limited.md", text: "Some words." });
  const page = await open("keys/new");
  agreeToAll(page);
  await page.getByLabel("Name").fill("One model");
  await page.getByLabel("Allowed models").fill("offline/echo");
  expect(await page.getByLabel("Only these").isChecked()).toBe(true);
  await page.getByLabel("Only these").uncheck();
  expect(await page.getByLabel("Allowed models").inputValue()).toBe("");
  await page.getByLabel("Allowed models").fill("offline/echo");
  await page.getByRole("button", { name: "Create key" }).click();
  await page.getByText("It is shown only now.").waitFor();
  const { data } = await tenant.made(tenant.owner("GET", "/keys?limit=1"));
  expect(data).toMatchObject([{ name: "One model", allowed_models: ["offline/echo"] }]);

  const agent = await tenant.newAgent();
  await page.goto(`${tenant.url}/console/agents/${agent}`);
  await page.getByLabel("Limited").check();
  expect(await page.getByLabel("Only these").isChecked()).toBe(true);
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Saved as version 2.").waitFor();
  expect((await tenant.made(tenant.owner("GET", `/agents/${agent}`))).collections).toEqual([shelf]);

  await page.goto(`${tenant.url}/console/knowledge/documents/${id}`);
  await page.getByText("Details, readers and your own metadata").click();
  await page.getByLabel("Reader", { exact: true }).selectOption("role:owner");
  expect(await page.getByLabel("Only those who are named here").isChecked()).toBe(true);
  await page.getByRole("button", { name: "Save readers" }).click();
  const readers = async () => (await reader.call("GET", `/documents/${id}`)).body.readers;
  await expect.poll(readers, SOON).toEqual([{ role: "owner" }]);
});

test("an agent keeps its collections and its project while their lists cannot be read", async () => {
  const shelf = await reader.collect("Kept");
  const { id: project_id } = await tenant.made(tenant.owner("POST", "/projects", { name: "Kept" }));
  const agent = await tenant.newAgent({ collections: [shelf], project_id });
  const page = await open();
  await page.route(/\/api\/(v1\/knowledge\/collections|projects)\?/, (route) => route.fulfill({ status: 404 }));
  await page.goto(`${tenant.url}/console/agents/${agent}`);
  await page.getByLabel("Instructions").fill("Other words");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Saved as version 2.").waitFor();
  const { collections, ...rest } = await tenant.made(tenant.owner("GET", `/agents/${agent}`));
  expect([collections, rest]).toMatchObject([[shelf], { project_id, instructions: "Other words" }]);
});

test("the form of a document shows that document, and a text is not added twice", async () => {
  const shelf = await reader.collect("Two");
  const [one, two] = [
    await reader.pushed(shelf, { name: "one.md", text: "The first." }),
    await reader.pushed(shelf, { name: "two.md", text: "The second." }),
  ];
  const page = await open(`knowledge/documents/${one}`);
  const name = page.getByLabel("Name", { exact: true });
  await expect.poll(() => name.inputValue(), SOON).toBe("one.md");
  await page.keyboard.press("Control+k");
  await page.getByLabel(/^What it is called/).fill(two);
  await page.keyboard.press("Enter");
  await expect.poll(() => name.inputValue(), SOON).toBe("two.md");
  // both are known by now, so the page is never empty between them
  await page.goBack();
  await page.getByRole("heading", { name: "one.md" }).waitFor();
  expect(await name.inputValue()).toBe("one.md");

  await page.goto(`${tenant.url}/console/knowledge/${shelf}`);
  await page.getByText("Write a text").click();
  await page.getByLabel("Name of the text").fill("three.md");
  await page.getByLabel("Text, as Markdown").fill("The third.");
  await page.getByRole("button", { name: "Add text" }).click();
  await page.getByText("Added.").waitFor();
  expect(await page.getByLabel("Name of the text").inputValue()).toBe("");
  await page.getByRole("button", { name: "Add text" }).click();
  const { total } = (await reader.call("GET", `/collections/${shelf}/documents`)).body;
  expect(total).toBe(3);
});

/** A list has at most the newest 50 at once: two before them are needed, and the first. */
const VERSIONS = 53;

test("each of many versions is compared with the previous one", async () => {
  const source = (n: number) => `export const meta = { name: "counted" };\nexport const execute = () => "words ${n}";`;
  const { id } = await tenant.made(tenant.owner("POST", "/definitions", { type: "tool", source: source(1) }));
  const save = async () => {
    for (let n = 2; n <= VERSIONS; n++)
      await tenant.made(tenant.owner("PATCH", `/definitions/${id}`, { source: source(n) }));
  };
  // the browser starts while they are saved
  const [page] = await Promise.all([open("agents"), save()]);
  await page.goto(`${tenant.url}/console/definitions/${id}?view=versions&version=3`);
  agreeToAll(page);
  await page.getByText("What version 3 has and version 2 has not").waitFor();
  await page.getByLabel("Version 3").getByText("words 3").waitFor();
  const versions = page.getByRole("combobox", { name: "Version", exact: true });
  await versions.selectOption("11");
  await page.getByText("What version 11 has and version 10 has not").waitFor();
  await versions.selectOption("1");
  await page.getByText("The first version, as it was saved.").waitFor();
  await page.getByRole("button", { name: "Go back to version 1" }).click();
  await page.getByText(`What version ${VERSIONS + 1} has`).waitFor();
  await page.goto(`${tenant.url}/console/definitions/${id}?view=versions&version=99`);
  await page.getByRole("heading", { name: "There is no version 99" }).waitFor();
  await inspect(page, "version-none");
});
