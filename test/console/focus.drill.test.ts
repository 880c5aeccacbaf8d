import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { SOON } from "../workflows/tenant.ts";
import { agreeToAll, inspect, openConsole, type Console } from "./browser.ts";

/* Where somebody goes on who uses the keyboard alone, and that typing does not lead back from where they went. */

let tenant: Console["tenant"];
let open: Console["open"];
beforeAll(async () => {
  ({ tenant, open } = await openConsole());
});

/** The words of what has the focus. */
const focused = (page: Page) => page.evaluate("document.activeElement.textContent.trim()");

test("a row that is removed hands the focus to the next one, then to the one before, then to the note of the empty list", async () => {
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

test("a row that somebody else removes hands the focus on, too; without the focus it takes none", async () => {
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

test("a button keeps the focus while its form is sent, and sends it once; then the empty form's first field has the focus", async () => {
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

test("a screen that was opened from a row has the focus", async () => {
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
])("what is typed into a filter of %s while another screen is opening does not lead back", async (from, field, to) => {
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
