import { expect, test } from "vitest";
import { expectFits, inspect, openConsole, PHONE, takePicture } from "./browser.ts";

/* The documentation in a browser. `newPage` fails a test when its page breaks the content security policy. */

const consoleUi = await openConsole();
const open = async (path: string, viewport?: typeof PHONE) => {
  const page = await consoleUi.newPage(viewport);
  await page.goto(`${consoleUi.service.base}/docs/${path}`);
  return page;
};

test.each([
  "",
  "overview",
  "operating",
  "permissions",
  "workflows",
  "decisions",
  "adr/0009-rounds-are-events",
  "no-such-page",
])("the page %j is accessible and fits, in both themes, on a desktop and on a phone", async (path) => {
  const page = await open(path);
  await inspect(page, `docs-${path.replaceAll("/", "-") || "start"}`);
});

test("the API reference runs and sends requests only to this service", async () => {
  const page = await consoleUi.newPage();
  const answer = await page.goto(`${consoleUi.service.base}/reference/`);
  expect(answer!.headers()).toMatchObject({
    "content-security-policy": expect.stringMatching(/^default-src 'none'; script-src 'self';/),
    "x-content-type-options": "nosniff",
  });
  await page.getByRole("link", { name: "/api/openai/v1/chat/completions", exact: true }).click();
  await page.getByText("Request body", { exact: true }).waitFor();
  await takePicture(page, "reference");
});

test("the API reference fits a phone with an open request, and follows the theme of the console", async () => {
  const page = await consoleUi.newPage(PHONE);
  await page.addInitScript(`localStorage.setItem("console-theme", "dark")`);
  await page.goto(`${consoleUi.service.base}/reference/`);
  // without it phones draw the page 980 pixels wide
  expect(await page.locator("meta[name=viewport]").getAttribute("content")).toContain("width=device-width");
  expect(await page.evaluate("document.documentElement.className")).toContain("dark-mode");
  await page.getByRole("link", { name: "/api/openai/v1/chat/completions", exact: true }).click();
  await page.getByText("402", { exact: true }).waitFor();
  await expectFits(page);
  expect(await page.getByText("No links").first().isVisible()).toBe(false);
  await takePicture(page, "reference-phone");
  expect(await page.getByRole("link", { name: "Guides and explanations" }).getAttribute("href")).toMatch(/\/docs\/$/);
});

test("a search with the keyboard alone opens the section", async () => {
  const page = await open("adr/0009-rounds-are-events");
  await page.keyboard.press("/");
  await page.keyboard.type("backup and rest");
  const results = page.getByRole("search").getByRole("link");
  await results.first().waitFor();
  await inspect(page, "docs-search");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/docs/operating#backup-and-restore");
  await page.keyboard.press("/");
  await page.keyboard.type("zzzznothing");
  await page.getByText("Nothing found").waitFor();
  await page.keyboard.press("Escape");
  expect(await page.getByText("Nothing found").isVisible()).toBe(false);
});

test("text typed into the documentation's search is never interpreted as HTML", async () => {
  const page = await open("");
  await page.getByRole("searchbox").fill("<img src=x onerror=reportViolation(1)>");
  await page.getByText("Nothing found").waitFor();
  expect(await page.locator(".results img").count()).toBe(0);
});

test("a reader navigates by next, previous, contents and group, and back to the console", async () => {
  const page = await open("workflows");
  await page.getByRole("navigation", { name: "Previous and next" }).getByRole("link", { name: "Next" }).click();
  await page.getByRole("navigation", { name: "Previous and next" }).getByRole("link", { name: "Previous" }).click();
  await page.waitForURL("**/docs/workflows");
  const contents = page.getByRole("navigation", { name: "On this page" });
  const target = await contents.getByRole("link").nth(1).getAttribute("href");
  await contents.getByRole("link").nth(1).click();
  await page.waitForURL(`**/docs/workflows${target}`);
  expect(await page.locator(`[id="${target!.slice(1)}"]`).isVisible()).toBe(true);
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "How it works" }).click();
  await page.getByRole("heading", { name: "Architecture", level: 1 }).waitFor();
  await page.getByRole("link", { name: "Console", exact: true }).click();
  await page.waitForURL("**/console/**");
});

test("on a phone all pages are one tap away, and no text is cut off", async () => {
  const page = await open("operating", PHONE);
  await page.getByRole("link", { name: "All pages" }).click();
  await page.waitForURL("**/operating#pages");
  await page.getByRole("link", { name: "Permissions", exact: true }).click();
  await page.getByRole("heading", { name: "Who may do what", level: 1 }).waitFor();
});

test("a printed page contains only the text", async () => {
  const page = await open("operating");
  await page.emulateMedia({ media: "print" });
  expect(await page.getByRole("navigation", { name: "Pages" }).isVisible()).toBe(false);
  expect(await page.getByRole("search").isVisible()).toBe(false);
  expect(await page.getByRole("heading", { name: "Operating", level: 1 }).isVisible()).toBe(true);
});
