import { beforeAll, expect, test } from "vitest";
import { openReader, type Reader } from "../knowledge/library.ts";
import { openSourceSite, type SourceSite } from "../knowledge/sourceSite.ts";
import { SOON } from "../soon.ts";
import { inspect, openConsole, type Console } from "./browser.ts";

/* A sitemap is added, read, paused and removed. */

let open: Console["open"];
let reader: Reader;
let site: SourceSite;
beforeAll(async () => {
  site = await openSourceSite();
  let tenant: Console["tenant"];
  ({ tenant, open } = await openConsole({ PRIVATE_FETCH_HOSTS: site.host, SOURCE_DELAY_MS: "100" }));
  reader = openReader(tenant.url, tenant.credentials.api_key);
});

test("a source is added, read again, paused, and removed with its documents", async () => {
  site.pages.set("/tides.html", "High tide is at noon.").set("/ice.html", "The ice melts.");
  site.pages.set("/sitemap.xml", site.sitemap("/tides.html", "/ice.html", "/missing.html"));
  const collection = await reader.collect("Sea");
  const page = await open(`knowledge/${collection}`);
  await page.getByRole("link", { name: "Sources" }).click();
  await page.getByRole("heading", { name: "There are no sources yet" }).waitFor();
  await inspect(page, "sources-empty");
  await page.getByLabel("Address").fill(site.url("/sitemap.xml"));
  await page.getByLabel("Again").selectOption({ label: "every night at 4" });
  await page.getByRole("button", { name: "Add source" }).click();
  await page.getByText("3 of 3 pages: 2 new, 1 failed").waitFor();
  await page.getByRole("link", { name: "/sitemap.xml" }).click();
  await page.getByText("The server answered 404.").waitFor();
  await inspect(page, "sources");
  await page.getByRole("navigation", { name: "Result" }).getByRole("link", { name: "failed" }).click();
  await expect.poll(() => page.getByRole("row").count(), SOON).toBe(2);
  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByText("paused", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Read now" }).click();
  await page.getByText("3 of 3 pages: 2 same, 1 failed").waitFor();
  page.once("dialog", (dialog) => void dialog.accept());
  await page.getByRole("button", { name: "Remove with documents" }).click();
  await page.getByRole("heading", { name: "There are no sources yet" }).waitFor();
  await reader.until(`/collections/${collection}/documents`, ({ total }) => total === 0);
});
