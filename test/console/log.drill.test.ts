import { readFile } from "node:fs/promises";
import { beforeAll, expect, test } from "vitest";
import { say } from "../http/service.ts";
import { SOON } from "../workflows/soon.ts";
import { HOSTILE, inspect, openConsole, type Console } from "./browser.ts";

/* An operator's way through the log. */

let tenant: Console["tenant"];
let open: Console["open"];
beforeAll(async () => {
  ({ tenant, open } = await openConsole());
});

test("the log says what happened, is filtered by address, and shows every field of an event", async () => {
  const answer = await tenant.key("POST", "/openai/v1/chat/completions", say(`Hello ${HOSTILE}`));
  await tenant.made(tenant.owner("POST", "/keys", { name: `Key ${HOSTILE}` }));
  const stream = `thread-${answer.headers.get("x-thread-id")}`;
  const page = await open("log");
  await page.getByText("offline/echo answered (stop).").waitFor();
  await page.getByText(`The API key “Key ${HOSTILE}”`).waitFor();
  await inspect(page, "log");
  await page.getByLabel("Stream").fill(stream);
  await page.keyboard.press("Enter");
  await expect.poll(() => page.locator("li.step").count(), SOON).toBe(2);
  await page.getByLabel("Type").selectOption("TurnStarted");
  await expect.poll(() => page.locator("li.step").count(), SOON).toBe(1);
  await page.reload();
  await page.locator("main [data-row]").first().waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.getByText("Hello <img src=x").waitFor();
  await inspect(page, "log-event");
  await page.getByRole("link", { name: "Open the request" }).click();
  await page.getByRole("heading", { name: "Prompt" }).waitFor();
  await page.getByRole("link", { name: "See the log of its thread" }).click();
  await expect.poll(() => page.locator("li.step").count(), SOON).toBe(2);
  await page.getByLabel("Stream").fill("nonsense");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").getByText("field stream").waitFor();
});

test("rows stay in place until a person asks for new ones, or follows", async () => {
  const page = await open("log?type=ProjectCreated");
  await page.getByRole("heading", { name: "No event matches" }).waitFor();
  await inspect(page, "log-empty");
  await tenant.project("First");
  await page.getByRole("button", { name: "Show 1 new event" }).click();
  await page.getByText("The project “First” was created.").waitFor();
  await page.getByLabel("Follow live").click();
  await expect.poll(() => page.url(), SOON).toContain("follow=true");
  await tenant.project("Second");
  await page.getByText("The project “Second” was created.").waitFor();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: "Export as JSON lines" }).click(),
  ]);
  const lines = (await readFile(await download.path(), "utf8")).trim().split("\n");
  expect(lines.map((line) => JSON.parse(line).personal.name)).toEqual(["First", "Second"]);
});
