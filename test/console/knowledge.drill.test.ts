import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { openReader } from "../knowledge/library.ts";
import { SOON } from "../soon.ts";
import { agreeToAll, HOSTILE, inspect, openConsole } from "./browser.ts";

/* Documents from their upload to the passage that a citation means. */

const HANDBOOK = readFileSync(new URL("../../examples/handbook.pdf", import.meta.url));
const LONG = Array.from({ length: 60 }, (_, n) => `# Part ${n}\n\n${`Words of part ${n}. `.repeat(60)}`).join("\n\n");

const { tenant, open } = await openConsole();
const reader = openReader(tenant.url, tenant.credentials.api_key);

/** Whether an element is within the window. */
const IS_SEEN = `const { top, bottom } = document.querySelector("mark").getBoundingClientRect(); top >= 0 && bottom <= innerHeight`;
const isMarkSeen = (page: Page) => page.evaluate(`(() => { ${IS_SEEN.replace("top >=", "return top >=")} })()`);

describe("knowledge", () => {
  test("is empty at first; a collection is created and filled with many files, and one fails and is retried", async () => {
    const page = await open("knowledge");
    await page.getByRole("heading", { name: "There are no collections yet" }).waitFor();
    await inspect(page, "knowledge-empty");
    await page.getByLabel("Name of a new collection").fill(`Handbook ${HOSTILE}`);
    await page.getByRole("button", { name: "Create collection" }).click();
    await page.getByRole("heading", { name: "This collection is empty" }).waitFor();
    await page.getByLabel("Drop files here").setInputFiles([
      { name: "handbook.pdf", mimeType: "application/pdf", buffer: HANDBOOK },
      {
        name: `${HOSTILE.replaceAll("/", "")}.md`,
        mimeType: "text/markdown",
        buffer: Buffer.from(`# Hello\n\n${HOSTILE}`),
      },
      { name: "broken.pdf", mimeType: "application/pdf", buffer: Buffer.from("%PDF-1.7 and nothing else") },
      { name: "picture.xyz", mimeType: "", buffer: Buffer.from([0, 1, 2, 3]) },
    ]);
    await page.getByText("3 of 4 files sent").waitFor();
    // sending a file of this type again would not help
    expect(await page.getByRole("alert").getByRole("button").count()).toBe(0);
    await expect.poll(() => page.getByRole("table").getByText("ready", { exact: true }).count(), SOON).toBe(2);
    await page.getByRole("button", { name: "Try again to read broken.pdf" }).waitFor();
    await inspect(page, "collection");
    await page.getByRole("navigation", { name: "Status" }).getByRole("link", { name: "failed" }).click();
    await expect.poll(() => page.getByRole("row").count(), SOON).toBe(2);
    await page.getByRole("button", { name: "Try again to read broken.pdf" }).click();
    await page.reload();
    await page.getByRole("button", { name: "Try again to read broken.pdf" }).waitFor();
    await page.getByRole("link", { name: "← Knowledge" }).click();
    await page.getByText("1 failed").waitFor();
    await inspect(page, "knowledge");
  });

  test("reports a file that already exists, and a failed file disappears once its corrected version is uploaded", async () => {
    const shelf = await reader.collect("Mended");
    const [broken, whole] = [Buffer.from("%PDF-1.7 and no more"), Buffer.from("# Whole\n\nA text that can be read.")];
    const page = await open(`knowledge/${shelf}`);
    const drop = (name: string, buffer: Buffer) =>
      page.getByLabel("Drop files here").setInputFiles({ name, mimeType: "application/octet-stream", buffer });
    await drop("report.pdf", broken);
    await page.getByRole("button", { name: "Delete report.pdf" }).waitFor();
    await drop("report.md", whole);
    await page.getByText("2 of 2 files sent").waitFor();
    await drop("report.md", whole);
    await page.getByText("report.md is there already, with the same content.").waitFor();
    await drop("copy.md", whole);
    await page.getByText("copy.md has the same content as report.md, which is there already.").waitFor();
    await inspect(page, "collection-existing");
    agreeToAll(page);
    await page.getByRole("button", { name: "Delete report.pdf" }).click();
    await expect.poll(() => page.getByRole("row").count(), SOON).toBe(2);
    await page.getByRole("link", { name: "report.md" }).waitFor();
  });

  test("sends a file that failed once more, however often it is tried again while others are sent", async () => {
    const shelf = await reader.collect("Again");
    const page = await open(`knowledge/${shelf}`);
    const { promise, resolve: release } = Promise.withResolvers<void>();
    let posts = 0;
    await page.route(`**/collections/${shelf}/documents`, async (route) => {
      if (route.request().method() !== "POST") return route.continue();
      if (posts++ === 0) return route.fulfill({ status: 503, json: { error: { message: "Not now." } } });
      await promise;
      return route.continue();
    });
    const drop = (...names: string[]) =>
      page
        .getByLabel("Drop files here")
        .setInputFiles(names.map((name) => ({ name, mimeType: "text/markdown", buffer: Buffer.from(name) })));
    await drop("late.md");
    const again = page.getByRole("button", { name: "Try again", exact: true });
    await again.waitFor();
    // the number of files that are sent at the same time
    await drop("one.md", "two.md", "three.md");
    await expect.poll(() => posts, SOON).toBe(4);
    await again.evaluate((button: any) => {
      button.click();
      button.click();
    });
    await expect.poll(() => again.count(), SOON).toBe(0);
    await page.getByLabel("Sending late.md").waitFor();
    release();
    await page.getByText("4 of 4 files sent").waitFor();
    expect(posts).toBe(5);
  });

  test("is searched while files are sent and a text is written, and both are still there afterwards", async () => {
    const shelf = await reader.collect("Busy");
    const page = await open(`knowledge/${shelf}`);
    const { promise, resolve: release } = Promise.withResolvers<void>();
    await page.route(`**/collections/${shelf}/documents`, async (route) => {
      if (route.request().method() === "POST") await promise;
      await route.continue();
    });
    await page.getByText("Write a text").click();
    await page.getByLabel("Name of the text").fill("half.md");
    // more files than are sent at the same time
    const names = Array.from({ length: 5 }, (_, n) => `sent ${n}.md`);
    await page
      .getByLabel("Drop files here")
      .setInputFiles(names.map((name) => ({ name, mimeType: "text/markdown", buffer: Buffer.from(name) })));
    await page.getByText("0 of 5 files sent").waitFor();
    await page.getByLabel("Search the documents").fill("holidays");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "No passage matches" }).waitFor();
    expect(await page.getByText("0 of 5 files sent").isVisible()).toBe(false);
    release();
    await page.getByRole("button", { name: "Clear" }).click();
    await page.getByText("5 of 5 files sent").waitFor();
    for (const name of names) await page.getByRole("link", { name }).waitFor();
    expect(await page.getByLabel("Name of the text").inputValue()).toBe("half.md");
  });

  test("is searched by address, and a hit opens its document with the passage marked", async () => {
    const shelf = await reader.collect("Long");
    const { id } = (await reader.push(shelf, { text: LONG, name: "long.md" })).body;
    await reader.ended(id);
    const page = await open(`knowledge/${shelf}`);
    await page.getByLabel("Search the documents").fill("part 47");
    await page.keyboard.press("Enter");
    await page
      .getByText(/score \d/)
      .first()
      .waitFor();
    await expect.poll(() => page.url(), SOON).toContain("q=part");
    await inspect(page, "knowledge-search");
    await page
      .getByRole("link", { name: /Part 47/ })
      .first()
      .click();
    // the results have marked words, too, and stay visible until the document is rendered
    await page.getByRole("link", { name: "Download the text" }).waitFor();
    await page.locator("mark").waitFor();
    expect(await page.locator("mark").textContent()).toContain("part 47");
    await expect.poll(() => isMarkSeen(page), SOON).toBe(true);
    await inspect(page, "document");
    await page.getByRole("button", { name: "Show earlier passages" }).click();
    await page.getByText("Words of part 30.").first().waitFor();
  });

  test("says which endpoint did not help a search, and shows rows of a long table below its header", async () => {
    const shelf = await reader.collect("Prices");
    const rows = Array.from({ length: 120 }, (_, n) => `| Gasket ${n} | ${n * 7} |`).join("\n");
    const text = `| Part | Price in euros |\n| --- | --- |\n${rows}\n`;
    await reader.ended((await reader.push(shelf, { text, name: "prices.md" })).body.id);
    const page = await open(`knowledge/${shelf}`);
    await page.route("**/knowledge/search", async (route) => {
      const answer = await route.fetch();
      const degraded = [{ part: "embeddings", message: "The endpoint answered 429." }];
      await route.fulfill({ response: answer, json: { ...(await answer.json()), degraded } });
    });
    await page.getByLabel("Search the documents").fill("gasket 119");
    await page.keyboard.press("Enter");
    await page.getByText("Found without meaning: The endpoint answered 429.").waitFor();
    await page.getByText("| Part | Price in euros |").first().waitFor();
    await inspect(page, "knowledge-degraded");
    await page
      .getByRole("link", { name: /Gasket 119/ })
      .first()
      .click();
    await page.locator("mark th").filter({ hasText: "Price in euros" }).first().waitFor();
  });
});

describe("a document", () => {
  test("opens at the page that a citation names, with a link to its original", async () => {
    const shelf = await reader.collect("Pages");
    const { id } = await reader.keep(shelf, { content: HANDBOOK, name: "handbook.pdf" });
    const page = await open(`knowledge/documents/${id}?page=2`);
    await page.getByRole("heading", { name: "Page 2" }).waitFor();
    await expect.poll(() => page.locator("mark").count(), SOON).toBeGreaterThan(0);
    const address = await page.getByRole("link", { name: "Download the original" }).getAttribute("href");
    expect(address).toBe(`${tenant.url}/api/v1/knowledge/documents/${id}/content`);
    await inspect(page, "document-pages");
    await page.goto(`${tenant.url}/console/knowledge/documents/${id}?seq=9999`);
    await page.getByRole("heading", { name: "There is no such passage" }).waitFor();
  });

  test("opens with the cited text marked, even after it was replaced", async () => {
    const shelf = await reader.collect("Replaced");
    const push = async (text: string) => {
      const { id } = (await reader.push(shelf, { external_id: "rule", text, name: "rule.md" })).body;
      return (await reader.ended(id)).id;
    };
    const id = await push("Everybody gets 24 days.");
    await push("Everybody gets 30 days.");
    const page = await open(`knowledge/documents/${id}?seq=0&version=1`);
    await page.getByText("an earlier text").waitFor();
    expect(await page.locator("mark").textContent()).toContain("24 days");
    await inspect(page, "document-version");
    await page.getByRole("link", { name: "Show the newest text" }).click();
    await page.getByText("30 days").waitFor();
  });

  test("that does not exist is reported, and a viewer sees neither an upload nor a link to the log", async () => {
    const viewer = await tenant.member("viewer");
    const shelf = await reader.collect("Seen");
    const page = await open(`knowledge/${shelf}`, viewer);
    await page.getByRole("heading", { name: "This collection is empty" }).waitFor();
    await page.getByText("Nobody has added a document yet.").waitFor();
    expect(await page.getByLabel("Drop files here").count()).toBe(0);
    const { id } = await reader.ended((await reader.push(shelf, { name: "seen.md", text: "Words." })).body.id);
    await page.goto(`${tenant.url}/console/knowledge/documents/${id}`);
    await page.getByText("Details, readers and your own metadata").click();
    await page.getByText("everybody of the organization", { exact: true }).waitFor();
    expect(await page.getByRole("link", { name: "its log" }).count()).toBe(0);
    await page.goto(`${tenant.url}/console/knowledge/documents/nonsense`);
    await page.getByRole("alert").getByText("code not_found").waitFor();
    await inspect(page, "document-missing");
  });
});
