import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { say } from "../http/service.ts";
import { jsonLines } from "../jsonLines.ts";
import { SOON } from "../soon.ts";
import { agreeToAll, HOSTILE, inspect, LONG_NAME, openConsole } from "./browser.ts";

/* The Privacy screen: retention rules, exports, holds and erasures. */

const { tenant, open } = await openConsole();

/** The lines of the file that a page saves. */
async function saved(page: Page, begin: () => Promise<void>): Promise<{ name: string; lines: any[] }> {
  const [download] = await Promise.all([page.waitForEvent("download"), begin()]);
  const text = await readFile(await download.path(), "utf8");
  return { name: download.suggestedFilename(), lines: jsonLines(text) };
}

/** Places a hold on the chosen subject. */
async function place(page: Page, name: string) {
  await page.getByRole("textbox", { name: "Name (" }).fill(name);
  await page.getByLabel("Reason").fill("Asked for");
  await page.getByRole("button", { name: "Place hold" }).click();
}

async function erase(page: Page, key: string) {
  await page.goto(`${tenant.url}/console/privacy?section=erasures&subject=key:${key}`);
  await page.getByLabel("Type erase to confirm").fill("erase");
  await page.getByRole("button", { name: "Erase for good" }).click();
}

describe("retention", () => {
  test("is set after a preview and a typed confirmation, changed and removed", async () => {
    await tenant.made(tenant.owner("POST", "/projects", { name: LONG_NAME }));
    const page = await open("privacy");
    agreeToAll(page);
    await page.getByRole("heading", { name: "Everything is kept until somebody deletes it" }).waitFor();
    await inspect(page, "retention-empty");
    await page.getByRole("button", { name: "Preview" }).click();
    await page.getByRole("alert").getByText("field threads").waitFor();
    await page.getByLabel("Keep conversations for").fill("30 days");
    await page.getByRole("button", { name: "Preview" }).click();
    await page.getByText("Nothing is old enough to go now.").waitFor();
    await inspect(page, "retention-preview");
    await page.getByRole("button", { name: "Set these rules" }).click();
    await page.getByRole("alert").getByText("Nothing was done. Type “delete” to confirm.").waitFor();
    expect((await tenant.made(tenant.owner("GET", "/retention"))).data).toEqual([]);
    // a change after the preview needs another one
    await page.getByLabel("Keep conversations for").fill("31 days");
    await page.getByLabel("Keep runs for").fill("400 days");
    await page.getByRole("button", { name: "Preview" }).click();
    await page.getByLabel("Type delete to confirm").fill("delete");
    await page.getByRole("button", { name: "Set these rules" }).click();
    await page.getByText("conversations: 31 days").waitFor();
    await page.getByRole("link", { name: "The organization" }).click();
    await page.getByRole("heading", { name: "The rules of The organization" }).waitFor();
    expect(await page.getByLabel("Keep conversations for").inputValue()).toBe("31 days");
    // saving replaces all rules: one that the form did not know would be lost
    expect(await page.getByLabel("Keep runs for").inputValue()).toBe("400 days");
    await inspect(page, "retention");
    await page.getByRole("button", { name: "Remove" }).click();
    await page.getByRole("heading", { name: "Everything is kept until somebody deletes it" }).waitFor();
  });
});

test("a preview of retention rules that were changed while it was counted is not shown", async () => {
  const page = await open("privacy");
  agreeToAll(page);
  const { promise, resolve: release } = Promise.withResolvers<void>();
  await page.route("**/retention/*/preview", async (route) => {
    await promise;
    await route.continue();
  });
  const field = page.getByLabel("Keep conversations for");
  await field.fill("30 days");
  const asked = page.waitForRequest("**/retention/*/preview");
  await page.getByRole("button", { name: "Preview" }).click();
  await asked;
  await field.fill("3 days");
  const answered = page.waitForResponse("**/retention/*/preview");
  release();
  expect((await answered).ok()).toBe(true);
  const button = page.getByRole("button", { name: "Preview" });
  await expect.poll(() => button.getAttribute("aria-disabled"), SOON).toBe(null);
  expect(await page.getByRole("button", { name: "Set these rules" }).count()).toBe(0);
  await button.click();
  await page.getByRole("button", { name: "Set these rules" }).waitFor();
});

test("retention rules that are saved late do not lead back a person who edits the rules of another subject", async () => {
  const project = (await tenant.made(tenant.owner("POST", "/projects", { name: "Late" }))).id;
  for (const [subject, days] of [
    ["organization", "400d"],
    [`project:${project}`, "500d"],
  ] as const)
    await tenant.made(tenant.owner("PUT", `/retention/${subject}`, { files: days }));
  const page = await open("privacy?subject=organization");
  agreeToAll(page);
  const { promise, resolve: release } = Promise.withResolvers<void>();
  await page.route("**/retention/organization", async (route) => {
    if (route.request().method() === "PUT") await promise;
    await route.continue();
  });
  await page.getByRole("heading", { name: "The rules of The organization" }).waitFor();
  const files = page.getByLabel("Keep files for");
  await files.fill("401 days");
  await page.getByRole("button", { name: "Preview" }).click();
  await page.getByLabel("Type delete to confirm").fill("delete");
  await page.getByRole("button", { name: "Set these rules" }).click();
  await page.getByRole("link", { name: "Late" }).click();
  await page.getByRole("heading", { name: "The rules of Late" }).waitFor();
  await files.fill("501 days");
  const answered = page.waitForResponse((response) => response.request().method() === "PUT");
  release();
  expect((await answered).ok()).toBe(true);
  // enough for what follows the answer
  await page.evaluate("new Promise((resolve) => setTimeout(resolve, 500))");
  expect(new URL(page.url()).searchParams.get("subject")).toBe(`project:${project}`);
  expect(await files.inputValue()).toBe("501 days");
});

describe("an export", () => {
  test("of a key and of an end user is saved completely, and an invalid subject is reported", async () => {
    const { id, call } = await tenant.newKey({ name: `Key ${HOSTILE}` });
    await call("POST", "/openai/v1/chat/completions", { ...say("Remember this"), user: "ann/1" });
    const page = await open(`keys/${id}`);
    await page.getByRole("link", { name: "an export" }).click();
    await expect.poll(() => page.getByLabel("Which one").inputValue(), SOON).toBe(id);
    await inspect(page, "exports");
    const exported = () => saved(page, () => page.getByRole("button", { name: "Export", exact: true }).click());
    const key = await exported();
    expect(key.name).toBe(`export-key-${id}.jsonl`);
    expect(key.lines[0]).toMatchObject({ type: "export", subject: `key:${id}` });
    expect(key.lines.at(-1).type).toBe("end");
    expect(JSON.stringify(key.lines)).toContain("Remember this");
    await page.getByText("The export is complete:").waitFor();
    await page.getByLabel("About").selectOption("user");
    await page.getByRole("button", { name: "Export", exact: true }).click();
    await page.getByRole("alert").getByText("Say whom it is about.").waitFor();
    await page.getByLabel("As requests name it").fill("ann/1");
    const user = await exported();
    expect(user.name).toBe("export-user-ann-1.jsonl");
    expect(user.lines.at(-1).counts.thread ?? 0).toBe(1);
    await page.getByLabel("About").selectOption("person");
    await page.getByLabel("Which one").selectOption("deleted");
    await page.getByLabel("Its id").fill("nonsense");
    await page.getByRole("button", { name: "Export", exact: true }).click();
    await page.getByRole("alert").getByText("field subject").waitFor();
  });

  test("that was cut off is not saved", async () => {
    const page = await open("privacy?section=exports");
    // no subject is chosen until the person chooses one
    expect(await page.getByLabel("Which one").inputValue()).toBe("");
    // until the members are loaded, the first choice is a deleted person
    await page.getByLabel("Which one").locator("option", { hasText: "@" }).first().waitFor({ state: "attached" });
    await page.getByLabel("Which one").selectOption({ index: 1 });
    await page.route("**/api/exports", (route) => route.fulfill({ body: '{"type":"export"}\n{"type":"thread"}\n' }));
    await page.getByRole("button", { name: "Export", exact: true }).click();
    await page.getByRole("alert").getByText("The export was cut off").waitFor();
    await inspect(page, "exports-cut");
  });
});

describe("an erasure", () => {
  test("begins after a typed confirmation, shows its progress, and leaves a certificate", async () => {
    const { id, call } = await tenant.newKey({ name: "Erased" });
    await call("POST", "/openai/v1/chat/completions", { ...say("Forget this"), user: "bob" });
    const page = await open(`privacy?section=erasures&subject=key:${id}`);
    await page.getByRole("heading", { name: "Nothing was erased yet" }).waitFor();
    await inspect(page, "erasures-empty");
    await page.getByRole("button", { name: "Erase for good" }).click();
    await page.getByRole("alert").getByText("Type “erase” to confirm").waitFor();
    await page.getByLabel("Type erase to confirm").fill("erase");
    await page.getByRole("button", { name: "Erase for good" }).click();
    const row = page.getByRole("row", { name: "Erased" });
    await row.getByText("completed").waitFor();
    // the next one needs its own word
    expect(await page.getByLabel("Type erase to confirm").inputValue()).toBe("");
    await row.getByText("1 conversation, 0 files").waitFor();
    await inspect(page, "erasures");
    const { lines } = await saved(page, () => row.getByRole("link", { name: "Certificate" }).click());
    expect(lines.map(({ type }) => type)).toEqual(["certificate", "erased", "end"]);
    expect(lines[0].owner).toBe(`key:${id}`);
  });

  test("is for administrators only, like the whole page", async () => {
    const page = await open("privacy?section=erasures", await tenant.member("builder"));
    await page.getByRole("heading", { name: "For administrators" }).waitFor();
    expect(await page.getByRole("link", { name: "Privacy" }).count()).toBe(0);
    await inspect(page, "privacy-refused");
  });
});

describe("a hold", () => {
  test("keeps a person's data, and a refused deletion says so", async () => {
    const { id, call } = await tenant.newKey({ name: "Held" });
    await call("POST", "/openai/v1/chat/completions", { ...say("Keep this"), user: "eve" });
    const page = await open(`keys/${id}`);
    agreeToAll(page);
    await page.getByRole("link", { name: "a hold" }).click();
    await page.getByRole("heading", { name: "Nothing is held" }).waitFor();
    await inspect(page, "holds-empty");
    await page.getByRole("button", { name: "Place hold" }).click();
    await page.getByRole("alert").getByText("Name the hold").waitFor();
    await page.getByRole("textbox", { name: "Name" }).fill(`Case 7 ${HOSTILE}`);
    await page.getByRole("button", { name: "Place hold" }).click();
    await page.getByRole("alert").getByText("Say why it is held.").waitFor();
    await page.getByLabel("Reason").fill(LONG_NAME);
    await page.getByRole("button", { name: "Place hold" }).click();
    const row = page.getByRole("row", { name: "Case 7" });
    await row.getByRole("link", { name: "Held" }).waitFor();
    await inspect(page, "holds");
    await erase(page, id);
    await page.getByRole("alert").getByText("forbids this until it is released").waitFor();
    await inspect(page, "erasure-refused");
    await page.getByRole("link", { name: "See what is held" }).click();
    await row.getByRole("button", { name: "Release" }).click();
    await row.getByText("released").waitFor();
  });

  test("on one thread lets the erasure of its key wait until the release", async () => {
    const { id, call } = await tenant.newKey({ name: "Waits" });
    await call("POST", "/openai/v1/chat/completions", say("Keep this thread"));
    const page = await open("privacy?section=holds");
    agreeToAll(page);
    const { data: threads } = await tenant.made(tenant.owner("GET", `/threads?owner=key:${id}`));
    await page.getByLabel("About").selectOption("thread");
    await page.getByLabel("Its id").fill(threads[0].id);
    await place(page, "Case 8");
    await page.getByRole("row", { name: "Case 8" }).waitFor();
    await erase(page, id);
    await page.getByText("waits for what a hold keeps").waitFor();
    await inspect(page, "erasure-held");
    await page.getByRole("link", { name: "1 hold" }).click();
    await page.getByRole("row", { name: "Case 8" }).getByRole("button", { name: "Release" }).click();
    await page.getByRole("row", { name: "Case 8" }).getByText("released").waitFor();
    await page.getByRole("link", { name: "Erasures" }).click();
    await page.getByRole("row", { name: "Waits" }).getByText("completed").waitFor();
    await page.getByRole("row", { name: "Waits" }).getByText("1 conversation, 0 files").waitFor();
  });
});

describe("views of a screen", () => {
  test("can be selected by arrow keys, and have their own addresses", async () => {
    const page = await open("privacy");
    const current = () => page.evaluate("document.activeElement.textContent");
    await page.getByRole("link", { name: "Retention" }).focus();
    await page.keyboard.press("ArrowRight");
    expect(await current()).toBe("Holds");
    await page.keyboard.press("End");
    expect(await current()).toBe("Erasures");
    await page.keyboard.press("ArrowRight");
    expect(await current()).toBe("Retention");
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("Enter");
    await page.getByText("Erase what somebody has").waitFor();
    expect(await page.locator("nav.tabs [aria-current=page]").textContent()).toBe("Erasures");
    expect(page.url()).toContain("section=erasures");
  });
});

test("a hold of the organization, an end user or a run is placed from the same form", async () => {
  const run = await tenant.start(await tenant.register("export const run = () => 1;"));
  const page = await open("privacy?section=holds");
  for (const [kind, id] of [
    ["organization", undefined],
    ["user", "mallory"],
    ["run", run],
  ] as const) {
    await page.getByLabel("About").selectOption(kind);
    if (id) await page.getByLabel(kind === "user" ? "As requests name it" : "Its id").fill(id);
    await place(page, `Of ${kind}`);
    await page.getByRole("row", { name: `Of ${kind}` }).waitFor();
  }
  await page.getByLabel("About").selectOption("document");
  await place(page, "Nowhere");
  await page.getByRole("alert").getByText("Say which one it is about.").waitFor();
  await page.getByLabel("Its id").fill(run);
  await place(page, "Nowhere");
  await page.getByRole("alert").getByText("no document of this organization has the id").waitFor();
  const { data } = await tenant.made(tenant.owner("GET", "/holds"));
  await Promise.all(data.map((hold: { id: string }) => tenant.owner("DELETE", `/holds/${hold.id}`)));
});
