import { expect, test } from "vitest";
import { seed } from "../../cli/seed.ts";
import type { Tenant } from "../workflows/tenant.ts";
import { inspect, openConsole } from "./browser.ts";

/* A newcomer's first five minutes: asks, sees why, approves. */

const documentsReady = (tenant: Tenant) =>
  expect
    .poll(
      async () =>
        (await tenant.made(tenant.owner("GET", "/v1/knowledge/collections/handbook/documents?status=ready"))).total,
    )
    .toBe(3);

test("the example has a run that completes, one that fails and one that a newcomer approves and sees end, and an agent that answers from its documents", async () => {
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
  await page.getByRole("link", { name: "1 approval in the inbox" }).waitFor();
  await inspect(page, "home");
  await page.getByRole("link", { name: "Ask", exact: true }).click();
  await page.getByRole("button", { name: "Ask", exact: true }).click();
  await page.locator(".answer blockquote", { hasText: "home" }).first().waitFor();
  await page.getByRole("list", { name: "Sources" }).waitFor();
  await inspect(page, "chat-sources");
  await page.getByRole("link", { name: "[1]" }).first().click();
  await expect.poll(() => page.url()).toContain("/console/knowledge/documents/");
  await page.getByRole("link", { name: "Home", exact: true }).click();
  await page.getByRole("link", { name: "Why the newest answer?" }).click();
  await expect.poll(() => page.url()).toContain("/console/requests/");
  await page.getByRole("link", { name: "Home", exact: true }).click();
  await page.getByRole("link", { name: "Refund 900 for A-18?" }).first().click();
  await page.getByRole("button", { name: "Approve" }).click();
  await page.getByText("Approved by").waitFor();
  await page.getByRole("link", { name: "Runs", exact: true }).click();
  await expect.poll(() => page.getByRole("row", { name: /completed/ }).count()).toBe(2);
  await inspect(page, "runs-seeded");
});
