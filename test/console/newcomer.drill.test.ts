import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Locator, Page } from "playwright-core";
import { expect, test } from "vitest";
import { seed } from "../../cli/seed.ts";
import type { Tenant } from "../workflows/tenant.ts";
import { inspect, openConsole } from "./browser.ts";
import { button, countClicks, link } from "./clicks.ts";

/* A newcomer's first five minutes: asks, sees why, approves. */

const documentsReady = (tenant: Tenant) =>
  expect
    .poll(
      async () =>
        (await tenant.made(tenant.owner("GET", "/v1/knowledge/collections/handbook/documents?status=ready"))).total,
    )
    .toBe(3);

const README = new URL("../../README.md", import.meta.url);
/** `README_PICTURES=1` makes the README's pictures again. */
const PICTURES = process.env["README_PICTURES"] && fileURLToPath(new URL("../../docs/pictures", import.meta.url));

/** With what the picture is about in the middle, once a part that comes later is there. */
async function show(page: Page, name: string, about: Locator, until = about): Promise<void> {
  await inspect(page, `newcomer-${name}`);
  await about.evaluate((element: any) => element.scrollIntoView({ block: "center" }));
  await until.waitFor();
  if (PICTURES) await page.screenshot({ path: join(PICTURES, `${name}.png`) });
}

const { click, back, total } = countClicks();

/** What a newcomer does according to the README, and in how many clicks. */
async function firstFiveMinutes(page: Page): Promise<void> {
  const start = performance.now();
  await click(link(page, "Ask"));
  await click(button(page, "Ask"));
  await page.locator(".answer blockquote", { hasText: "home" }).first().waitFor();
  await page.getByRole("list", { name: "Sources" }).waitFor();
  await inspect(page, "chat-sources");
  await click(link(page, "[1]"));
  await page.locator("mark").first().waitFor();
  await show(page, "cited", page.locator("mark").first(), page.getByText(/^Page 2 of \d+$/));
  await back(page);
  await click(link(page, "Why this answer?"));
  await page.getByRole("heading", { name: "Prompt" }).waitFor();
  await show(page, "why", page.getByRole("heading", { name: "Course" }));
  await click(page.getByRole("link", { name: /^Inbox/ }));
  await click(page.getByRole("link", { name: /^Refund 900 for A-18\?/ }).first());
  await click(button(page, "Approve"));
  await page.getByText("Approved by").waitFor();
  await click(link(page, "See the run that asks"));
  await page.locator(".title-line").getByText("completed", { exact: true }).waitFor();
  await show(page, "approved", page.getByRole("heading", { name: "Steps and waits" }));
  await click(link(page, "its log"));
  await page.getByText("completed.").first().waitFor();
  await inspect(page, "newcomer-log");
  console.log(`${total()} clicks, ${Math.round((performance.now() - start) / 1_000)} s with all pictures`);
  expect(await readFile(README, "utf8")).toContain(`${total()} clicks`);
}

test("the example has a completed run, a failed run, a run that a newcomer approves, and an agent that answers from its documents", async () => {
  const { tenant, open } = await openConsole();
  await seed(tenant.url, tenant.credentials);
  const { data } = await tenant.made(tenant.owner("GET", "/workflows/runs"));
  const [waiting, failed, completed] = data as { id: string }[];
  expect(await tenant.untilOver(completed!.id)).toMatchObject({ status: "completed", result: { refunded: true } });
  expect(await tenant.untilOver(failed!.id)).toMatchObject({
    status: "failed",
    error: expect.stringContaining("There is no order unknown"),
  });
  await tenant.pending(waiting!.id);

  await documentsReady(tenant);
  const page = await open();
  await page.getByText("1 failed run").waitFor();
  await inspect(page, "home");
  await firstFiveMinutes(page);
  await page.getByRole("link", { name: "Home", exact: true }).click();
  await inspect(page, "home-after");
  await page.getByRole("link", { name: "Runs", exact: true }).click();
  await expect.poll(() => page.getByRole("row", { name: /completed/ }).count()).toBe(2);
  await inspect(page, "runs-seeded");
});
