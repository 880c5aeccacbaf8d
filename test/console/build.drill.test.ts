import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { SOON, WAITING } from "../workflows/tenant.ts";
import { agreeToAll, HOSTILE, idIn, inspect, LONG_NAME, openConsole } from "./browser.ts";

/* What builders make: agents, tools, workflows, and what starts them. */

const { tenant, open } = await openConsole();

/** Replaces the text of the editor, like a person who selects all and types. */
async function write(page: Page, label: string, source: string): Promise<void> {
  await page.getByLabel(label).click();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(source);
}

test("an owner switches the organization's tools off and on, and a builder sees that they are off", async () => {
  const page = await open("tools");
  agreeToAll(page);
  await page.getByRole("button", { name: "Switch off" }).click();
  await page.getByText("Your own tools are switched off for the organization.").waitFor();
  await inspect(page, "tools-off");
  const builder = await open("tools", await tenant.member("builder"));
  await builder.getByText("Your own tools are switched off for the organization.").waitFor();
  expect(await builder.getByRole("button", { name: "Switch on" }).count()).toBe(0);
  await page.getByRole("button", { name: "Switch on" }).click();
  await page.getByRole("button", { name: "Switch off" }).waitFor();
  await expect.poll(async () => (await tenant.made(tenant.owner("GET", "/tools/scripted"))).enabled, SOON).toBe(true);
  await builder.getByText("Your own tools are switched off for the organization.").waitFor({ state: "detached" });
});

test("a tool is written with its errors shown at line and column, saved, tried, and compared with its previous version", async () => {
  const page = await open("tools");
  agreeToAll(page);
  await page.getByRole("heading", { name: "There are no tools of your own" }).waitFor();
  await inspect(page, "tools-empty");
  await page.getByRole("link", { name: "New tool" }).click();
  await page.getByLabel("Source of the tool").waitFor();
  await page.getByText("The service finds no problems.").waitFor();
  await inspect(page, "tool-new");
  await page.getByRole("button", { name: "Create tool" }).click();
  await page.getByRole("heading", { name: "add", exact: true }).waitFor();
  await write(page, "Source of add", "export const meta = {};\nexport function execute( {");
  await page.getByText("line 2, column").waitFor();
  await inspect(page, "tool-problem");
  const misspelled = `export const meta = { parameters: { type: "object", properties: { sku: { type: "string" } } } };
export const execute = (args) => args.skuu;
export const other: number = "text";`;
  await write(page, "Source of add", misspelled);
  await page.getByText("2 warnings, which a save takes.").waitFor();
  await page.getByText("Type: Property 'skuu' does not exist on type 'Args'. Did you mean 'sku'?").waitFor();
  await expect.poll(() => page.locator(".cm-lintRange-warning").allTextContents(), SOON).toEqual(["skuu", "other"]);
  await inspect(page, "tool-types");
  await page.getByRole("button", { name: "line 3, column 14" }).click();
  await page.keyboard.insertText("an");
  await page.getByText("export const another: number").waitFor();
  await page.keyboard.press("Control+Home");
  await page.keyboard.press("F8");
  await page.keyboard.insertText("sku");
  await page.getByText("1 warning, which a save takes.").waitFor();
  const source = `export const meta = { name: "add", description: ${JSON.stringify(HOSTILE)},
  parameters: { type: "object", properties: { a: { type: "number" }, more: { type: "object" } }, required: ["a"] } };
export const execute = ({ a }: { a: number }) => ({ sum: a + 1, words: ${JSON.stringify(HOSTILE)} });`;
  await write(page, "Source of add", source);
  await page.getByText("The service finds no problems.").waitFor();
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Version 2 is saved.").waitFor();
  await page.getByLabel("a", { exact: true }).fill("41");
  await page.getByLabel("more").fill("{ x");
  await page.getByRole("button", { name: "Call the tool" }).click();
  await page.getByRole("alert").getByText("more: must be JSON").waitFor();
  await page.getByLabel("more").fill('{ "x": 1 }');
  await page.getByRole("button", { name: "Call the tool" }).click();
  await page.getByText('"sum": 42').waitFor();
  await inspect(page, "tool-tried");
  const id = idIn(page);
  await page.getByRole("link", { name: "2 versions" }).click();
  await page.getByText("What version 2 has").waitFor();
  await page.getByLabel("Version 2").waitFor();
  await inspect(page, "tool-versions");
  await page.reload();
  await page.getByLabel("Version 2").waitFor();
  await page.getByRole("link", { name: "Source" }).click();
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("heading", { name: "There are no tools of your own" }).waitFor();
  expect((await tenant.owner("GET", `/definitions/${id}`)).status).toBe(404);
});

test("a workflow is written, registered, started from the editor, and gets a webhook", async () => {
  const page = await open("definitions/new?type=workflow");
  agreeToAll(page);
  await page.getByRole("button", { name: "Create workflow" }).click();
  await page.getByRole("heading", { name: "greeting" }).waitFor();
  await page.getByRole("button", { name: "Register as a workflow" }).click();
  await page.getByLabel("name", { exact: true }).fill(HOSTILE);
  await page.getByRole("button", { name: "Start a run" }).click();
  await page.getByText("Started:").waitFor();
  await inspect(page, "workflow-editor");
  await page.getByRole("link", { name: "run ", exact: false }).last().click();
  await page.getByText("Waits for").waitFor();
  await page.goBack();
  await page.getByRole("link", { name: "greeting" }).first().click();
  await page.getByRole("heading", { name: "Triggers" }).waitFor();
  await page.getByLabel("Name of a new webhook").fill(LONG_NAME.slice(0, 200));
  await page.getByRole("button", { name: "Add webhook" }).click();
  await page.getByText("It is shown only now.").waitFor();
  await inspect(page, "workflow");
  await page.getByText("The rules as JSON").click();
  await page.getByLabel("Rules as JSON").fill("{ nothing");
  await page.getByRole("button", { name: "Save JSON" }).click();
  await page.getByRole("alert").getByText("The rules:").waitFor();
  await page.goto(`${tenant.url}/console/workflows`);
  await page.getByRole("link", { name: "greeting" }).waitFor();
  await inspect(page, "workflows");
});

test("a schedule is created, shows its next five times, and is paused, resumed and removed", async () => {
  const { id } = await tenant.register(WAITING, {}, { name: `Nightly ${HOSTILE}` });
  const page = await open("schedules");
  agreeToAll(page);
  await page.getByRole("heading", { name: "There are no schedules" }).waitFor();
  await inspect(page, "schedules-empty");
  await page.getByRole("combobox", { name: "Workflow" }).selectOption(id);
  await page.getByLabel("Name", { exact: true }).fill("Report");
  await page.getByLabel("How often").selectOption("every month");
  await page.getByLabel("Day", { exact: false }).last().fill("31");
  await page.getByText("Starts on day 31 of every month at 08:30").waitFor();
  await page.getByLabel("How often").selectOption("as a cron expression");
  expect(await page.getByRole("textbox", { name: "Times (minute" }).inputValue()).toBe("30 8 31 * *");
  await page.getByRole("textbox", { name: "Times (minute" }).fill("never");
  await page.getByRole("status").getByText("invalid configuration format").waitFor();
  await page.getByRole("button", { name: "Add schedule" }).click();
  await page.getByRole("alert").getByText("code invalid_schedule").waitFor();
  await page.getByLabel("How often").selectOption("on weekdays");
  await page.getByText("Starts on weekdays at 08:30").waitFor();
  expect(await page.locator("form").getByRole("listitem").count()).toBe(5);
  await inspect(page, "schedule-new");
  expect(await page.getByRole("combobox", { name: "Workflow" }).inputValue()).toBe(id);
  await page.getByRole("button", { name: "Add schedule" }).click();
  await page.getByRole("row", { name: "Report" }).waitFor();
  expect(await page.getByRole("row", { name: "Report" }).getByRole("listitem").count()).toBe(5);
  await inspect(page, "schedules");
  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByRole("button", { name: "Resume" }).waitFor();
  expect((await tenant.made(tenant.owner("GET", "/workflows/schedules"))).data).toMatchObject([
    { name: "Report", paused: true, next_times: [] },
  ]);
  await page.getByRole("button", { name: "Resume" }).click();
  await page.getByRole("button", { name: "Pause" }).waitFor();
  await page.getByRole("button", { name: "Remove" }).click();
  await page.getByRole("heading", { name: "There are no schedules" }).waitFor();
});

test("an agent is created, tried and changed, and its versions are compared", async () => {
  const page = await open("agents");
  agreeToAll(page);
  await page.getByRole("link", { name: "New agent" }).click();
  await page.getByLabel("Name", { exact: true }).fill(`Agent ${HOSTILE}`);
  await page.getByLabel("Model", { exact: true }).fill("offline/echo");
  await page.getByLabel("Instructions").fill("Answer in one sentence.");
  await inspect(page, "agent-new");
  await page.getByRole("button", { name: "Create agent" }).click();
  await page.getByRole("heading", { name: `Agent ${HOSTILE}` }).waitFor();
  await page.getByLabel("Question").fill("Is anybody there?");
  await page.getByRole("button", { name: "Ask" }).click();
  await page.getByRole("link", { name: "Why?" }).waitFor();
  await inspect(page, "agent");
  await page.getByLabel("Instructions").fill(`Answer in two sentences. ${HOSTILE}`);
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Saved as version 2.").waitFor();
  const versions = await tenant.made(tenant.owner("GET", `/agents/${idIn(page)}/versions`));
  expect(versions.data.map(({ settings }: any) => settings.instructions)).toEqual([
    `Answer in two sentences. ${HOSTILE}`,
    "Answer in one sentence.",
  ]);
  await page.getByRole("link", { name: "2 versions" }).click();
  await page.getByText("What version 2 has").waitFor();
  await inspect(page, "agent-versions");
  await page.goto(`${tenant.url}/console/agents`);
  await page.getByRole("link", { name: `Agent ${HOSTILE}` }).waitFor();
  await inspect(page, "agents");
});

test("text that is typed during a save stays, and saved grants are not taken for another person's version", async () => {
  const source = `export const meta = { name: "kept_tool", secrets: ["CRM_TOKEN"] };\nexport const execute = () => 1;`;
  const { id } = await tenant.made(tenant.owner("POST", "/definitions", { type: "tool", source }));
  const page = await open(`definitions/${id}`);
  const held: (() => void)[] = [];
  await page.route(`**/api/definitions/${id}`, async (route) => {
    if (route.request().method() === "PATCH") await new Promise<void>((resolve) => held.push(resolve));
    await route.continue();
  });
  const append = async (text: string) => {
    await page.getByLabel("Source of kept_tool").click();
    await page.keyboard.press("Control+End");
    await page.keyboard.insertText(text);
  };
  const save = page.getByRole("button", { name: "Save", exact: true });
  await append("\n// first");
  await save.click();
  await expect.poll(() => held.length, SOON).toBe(1);
  await append("\n// second");
  held[0]!();
  await page.getByText("tool, version 2").waitFor();
  await page.getByText("Not saved yet.").waitFor();
  await page.unroute(`**/api/definitions/${id}`);
  await save.click();
  await page.getByText("Version 3 is saved.").waitFor();
  const stored = await tenant.made(tenant.owner("GET", `/definitions/${id}`));
  expect(stored.source).toBe(`${source}\n// first\n// second`);
  await page.getByLabel("CRM_TOKEN").check();
  await page.getByRole("button", { name: "Save grants" }).click();
  await page.getByText("tool, version 4").waitFor();
  await page.getByText("Version 4 is saved.").waitFor();
  expect(await page.getByText("was saved meanwhile").count()).toBe(0);
});

test("the keyboard reaches and scrolls a source that is longer than its editor", async () => {
  const lines = Array.from({ length: 120 }, (_, n) => `// line ${n}`).join("\n");
  const source = `export const meta = { name: "long_tool" };\nexport const execute = () => 1;\n${lines}`;
  const { id } = await tenant.made(tenant.owner("POST", "/definitions", { type: "tool", source }));
  const page = await open(`definitions/${id}`);
  await page.getByLabel("Source of long_tool").waitFor();
  await inspect(page, "tool-long");
  await page.getByLabel("Source of long_tool").focus();
  await page.keyboard.press("Control+End");
  await page.getByText("// line 119").waitFor();
});

test("a viewer reads agents, workflows and schedules, but cannot change them", async () => {
  const viewer = await tenant.member("viewer");
  const page = await open("agents", viewer);
  await page.getByRole("heading", { name: "Agents" }).waitFor();
  await expect.poll(() => page.getByRole("link", { name: "New agent" }).count(), SOON).toBe(0);
  await page.goto(`${tenant.url}/console/workflows`);
  await page.getByRole("heading", { name: "Workflows" }).waitFor();
  await page.goto(`${tenant.url}/console/schedules`);
  await page.getByRole("heading", { name: "There are no schedules" }).waitFor();
  await page.goto(`${tenant.url}/console/tools`);
  await page.getByRole("heading", { name: "For builders" }).waitFor();
  await inspect(page, "tools-refused");
});
