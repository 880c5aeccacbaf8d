import { describe, expect, test } from "vitest";
import { pdfOf, show } from "#services/reading/pdf/testing/build.ts";
import { openReader } from "../knowledge/library.ts";
import { notice, scanOf } from "../reading/scans.ts";
import { SOON } from "../soon.ts";
import { HOSTILE, inspect, LONG_NAME, openConsole, refuseNext } from "./browser.ts";

/* Details and readers of documents, and searches that use them. */

const { tenant, open } = await openConsole();
const reader = openReader(tenant.url, tenant.credentials.api_key);

test("a document that was read only in part says so on its page, in its collection and beside its hits", async () => {
  const shelf = await reader.collect("Warnings");
  const content = Buffer.from(pdfOf([show(72, 700, 10, "The keeper paints the railing."), "", ""]));
  const { id } = await reader.keep(shelf, { content, name: "part.pdf" });
  const warning = "Pages 2-3 have no text that could be read, as blank and scanned pages do.";
  for (const path of [`knowledge/documents/${id}`, `knowledge/${shelf}`, `knowledge/${shelf}?q=railing`]) {
    const page = await open(path);
    await expect.poll(() => page.locator(".notice.warn").allTextContents(), SOON).toEqual([warning]);
    await inspect(page, "document-warnings");
  }
});

test("a collection and a document show how many scanned pages were read", async () => {
  const shelf = await reader.collect("Scans");
  const content = scanOf(Array.from({ length: 6 }, () => notice));
  const [list, page] = [await open(`knowledge/${shelf}`), await open(`knowledge/${shelf}`)];
  const { id } = (await reader.upload(shelf, { content, name: "scans.pdf" })).body;
  await page.goto(`${tenant.url}/console/knowledge/documents/${id}`);
  const bars = [list, page].map((one) =>
    one.getByRole("progressbar", { name: "Scanned pages of scans.pdf that were read" }),
  );
  for (const bar of bars) await bar.waitFor();
  await reader.ended(id);
  for (const bar of bars) await bar.waitFor({ state: "detached" });
});

describe("a search", () => {
  test("is narrowed by filters, phrases and excluded words, all of them in the address", async () => {
    const shelf = await reader.collect("Leases");
    const lead = "Words before it. ".repeat(30);
    const metadata = (kind: string, year: number) => ({ kind, year });
    await reader.pushed(shelf, {
      name: "lease.md",
      text: `${lead}The notice period is a month.`,
      metadata: metadata("lease", 2024),
    });
    await reader.pushed(shelf, {
      name: "old.md",
      text: "A draft: the notice period is a year.",
      metadata: metadata("lease", 1999),
    });
    await reader.pushed(shelf, {
      name: "sale.md",
      text: "A period without notice.",
      tags: [HOSTILE],
      metadata: metadata("sale", 2025),
    });
    const page = await open(`knowledge/${shelf}?q=notice+period`);
    const hits = () => page.locator(".hit h3").allTextContents();
    await expect.poll(async () => (await hits()).length, SOON).toBe(3);
    await page.getByText("Filters, phrases and words to leave out").click();
    await page.getByLabel("Own metadata").fill("kind = lease, kind = sale, year >= 2024");
    await page.keyboard.press("Enter");
    await expect.poll(async () => (await hits()).length, SOON).toBe(2);
    expect(new URL(page.url()).searchParams.get("metadata")).toBe("kind = lease, kind = sale, year >= 2024");
    expect(await page.locator(".hit mark").allTextContents()).toContain("notice");
    // the text before the first word is left out
    expect((await page.locator(".found").allTextContents()).some((text) => text.startsWith("… "))).toBe(true);
    await inspect(page, "knowledge-filters");
    await page.reload();
    await page.getByLabel("Search the documents").fill('"notice period" -draft');
    await page.getByRole("button", { name: "Search" }).click();
    await expect.poll(hits, SOON).toEqual(["lease.md in Leases"]);
    await page.getByLabel("Own metadata").fill("");
    await page.getByLabel("Tags, all of them").fill(HOSTILE);
    await page.getByLabel("Search the documents").fill("notice");
    await page.getByLabel("Each document once").check();
    await page.getByRole("button", { name: "Search" }).click();
    await expect.poll(hits, SOON).toEqual(["sale.md in Leases"]);
    await page.getByLabel("Added until").fill("2001-01-01");
    await page.getByRole("button", { name: "Search" }).click();
    await page.getByText("All filters must hold at once").waitFor();
    await inspect(page, "knowledge-filters-empty");
    await page.goBack();
    await expect.poll(hits, SOON).toEqual(["sale.md in Leases"]);
  });

  test("names an invalid filter", async () => {
    const page = await open("knowledge?q=words&metadata=nonsense");
    await page.getByRole("alert").getByText("Own metadata: “nonsense” is no condition").waitFor();
    await page.getByLabel("Own metadata").fill("");
    await page.getByLabel("File types").fill(LONG_NAME);
    await page.getByRole("button", { name: "Search" }).click();
    await page.getByRole("alert").getByText("field filter.types").waitFor();
    await inspect(page, "knowledge-filters-wrong");
  });

  test("with many hits shows further ones", async () => {
    const shelf = await reader.collect("Many");
    const text = Array.from({ length: 60 }, (_, n) => `# Part ${n}\n\n${`Apples of part ${n}. `.repeat(60)}`).join(
      "\n\n",
    );
    await reader.pushed(shelf, { name: "many.md", text });
    const page = await open(`knowledge/${shelf}?q=apples`);
    const references = () => page.locator(".passage-link").allTextContents();
    await expect.poll(async () => (await references()).length, SOON).toBe(20);
    const first = await references();
    await page.getByRole("button", { name: "More matches" }).click();
    await expect.poll(async () => first.includes((await references())[0]!), SOON).toBe(false);
    await page.getByRole("button", { name: "Better matches" }).click();
    await expect.poll(references, SOON).toEqual(first);
  });
});

describe("a document", () => {
  test("shows its details, which can be changed, and its readers, which can be added and removed", async () => {
    const shelf = await reader.collect("Details");
    const id = await reader.pushed(shelf, {
      name: "rule.md",
      text: "Everybody gets 24 days.",
      external_id: "rule",
      tags: [HOSTILE, LONG_NAME],
      metadata: { kind: HOSTILE, year: 2026, signed: true },
    });
    const { id: ann } = await tenant.made(tenant.owner("GET", "/auth/me")).then(({ user }: any) => user);
    await tenant.made(tenant.owner("PUT", "/groups/legal", { members: [ann] }));
    const document = async () => (await reader.call("GET", `/documents/${id}`)).body;
    const page = await open(`knowledge/documents/${id}`);
    await page.getByText("Details, readers and your own metadata").click();
    await page.getByText("everybody of the organization", { exact: true }).waitFor();
    await inspect(page, "document-details");
    await page.getByRole("group", { name: "key 2" }).getByLabel("Value").fill("many");
    await page.getByRole("button", { name: "Save details" }).click();
    await page.getByRole("alert").getByText("“year” must be a number").waitFor();
    await page.getByRole("group", { name: "key 2" }).getByLabel("Value").fill("2027");
    await page.getByRole("button", { name: "Leave out key 1" }).click();
    await page.getByLabel("Tags").fill("one\ntwo");
    await page.getByRole("button", { name: "Save details" }).click();
    await page.getByText("Saved.").waitFor();
    expect(await document()).toMatchObject({ tags: ["one", "two"], metadata: { year: 2027, signed: true } });
    await page.getByText("one, two").waitFor();
    await page.getByLabel("Only those who are named here").check();
    await page.getByLabel("Reader", { exact: true }).selectOption("group:legal");
    await page.getByRole("button", { name: "Add a reader" }).click();
    await page.getByLabel("Reader", { exact: true }).nth(1).selectOption(`person:${ann}`);
    await page.getByLabel("End users of API keys").fill("ann@example.com\nbob");
    await page.getByRole("button", { name: "Save readers" }).click();
    await page.getByText(/^group legal, .*end user ann@example.com, end user bob$/).waitFor();
    expect((await document()).readers).toEqual([
      { group: "legal" },
      { person: ann },
      { external_user: "ann@example.com" },
      { external_user: "bob" },
    ]);
    await inspect(page, "document-readers");
    const builder = await open(`knowledge/documents/${id}`, await tenant.member("builder"));
    await builder.getByRole("alert").getByText("code not_found").waitFor();
    await page.getByLabel("Everybody of the organization").check();
    await page.getByRole("button", { name: "Save readers" }).click();
    await page.getByText("everybody of the organization", { exact: true }).waitFor();
    await builder.reload();
    await builder.getByText("24 days").waitFor();
  });

  test("asks before a left-out key that is not saved is lost", async () => {
    const shelf = await reader.collect("Left out");
    const id = await reader.pushed(shelf, {
      name: "left-out.md",
      text: "Words.",
      metadata: { kind: "rule", year: 2026 },
    });
    const page = await open(`knowledge/documents/${id}`);
    const asked = refuseNext(page);
    await page.getByText("Details, readers and your own metadata").click();
    await page.getByRole("button", { name: "Leave out key 1" }).click();
    await page.getByRole("link", { name: "Agents", exact: true }).click();
    await expect.poll(() => asked, SOON).toEqual(["Leave the page? What you wrote is not saved."]);
    await page.getByRole("button", { name: "Save details" }).click();
    await page.getByText("Saved.").waitFor();
    expect((await reader.call("GET", `/documents/${id}`)).body.metadata).toEqual({ year: 2026 });
  });

  test("keeps the chosen reader while people join the organization", async () => {
    const shelf = await reader.collect("Joined");
    const id = await reader.pushed(shelf, { name: "joined.md", text: "Words." });
    const page = await open(`knowledge/documents/${id}`);
    await page.getByText("Details, readers and your own metadata").click();
    const field = page.getByLabel("Reader", { exact: true });
    await field.selectOption("role:owner");
    const { id: late } = await tenant.member("viewer", "Late");
    await field.locator(`option[value="person:${late}"]`).waitFor({ state: "attached" });
    expect(await field.inputValue()).toBe("role:owner");
  });

  test("lists its earlier texts, and a viewer cannot change it", async () => {
    const shelf = await reader.collect("Replaced");
    const push = (text: string) => reader.pushed(shelf, { external_id: "rule", text, name: "rule.md" });
    const id = await push("Everybody gets 24 days.");
    const page = await open(`knowledge/documents/${id}`, await tenant.member("viewer"));
    await page.getByText("24 days").waitFor();
    await push("Everybody gets 30 days.");
    // live
    await page.getByText("30 days").waitFor();
    await page.route("**/versions?*", (route) =>
      route.fulfill({ status: 400, json: { error: { message: "No list." } } }),
    );
    await page.reload();
    await page.getByRole("alert").getByText("No list.").waitFor();
    await page.unroute("**/versions?*");
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByText("2 versions of the text").click();
    await inspect(page, "document-versions");
    await page.getByRole("link", { name: "Version 1" }).click();
    await page.getByText("24 days").waitFor();
    await page.getByRole("link", { name: "Version 2" }).click();
    await page.getByText("30 days").waitFor();
    await page.getByText("Details, readers and your own metadata").click();
    await page.getByText("everybody of the organization", { exact: true }).waitFor();
    expect(await page.getByRole("button", { name: "Save details" }).count()).toBe(0);
  });
});
