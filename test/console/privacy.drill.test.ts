import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { say } from "../http/service.ts";
import { SOON } from "../workflows/soon.ts";
import { agreeToAll, HOSTILE, inspect, LONG_NAME, openConsole, type Console } from "./browser.ts";

/* For how long things are kept, what is stored about somebody, and erasing it. */

let tenant: Console["tenant"];
let open: Console["open"];
beforeAll(async () => {
  ({ tenant, open } = await openConsole());
});

/** The lines of the file that a page saves. */
async function saved(page: Page, begin: () => Promise<void>): Promise<{ name: string; lines: any[] }> {
  const [download] = await Promise.all([page.waitForEvent("download"), begin()]);
  const text = await readFile(await download.path(), "utf8");
  const lines = text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  return { name: download.suggestedFilename(), lines };
}

describe("retention", () => {
  test("is set after a preview and a typed word, changed and removed", async () => {
    await tenant.made(tenant.owner("POST", "/projects", { name: LONG_NAME }));
    const page = await open("privacy");
    agreeToAll(page);
    await page.getByRole("heading", { name: "Everything is kept until somebody deletes it" }).waitFor();
    await inspect(page, "retention-empty");
    await page.getByRole("button", { name: "Preview" }).click();
    await page.getByRole("alert").getByText("field threads").waitFor();
    await page.getByLabel("Days of threads").fill("30");
    await page.getByRole("button", { name: "Preview" }).click();
    await page.getByText("Nothing is old enough to go now.").waitFor();
    await inspect(page, "retention-preview");
    await page.getByRole("button", { name: "Set these rules" }).click();
    await page.getByRole("alert").getByText("Nothing was done. Type “delete” to confirm.").waitFor();
    expect((await tenant.made(tenant.owner("GET", "/retention"))).data).toEqual([]);
    // a change after the preview needs another one
    await page.getByLabel("Days of threads").fill("31");
    await page.getByRole("button", { name: "Preview" }).click();
    await page.getByLabel("Type delete to confirm").fill("delete");
    await page.getByRole("button", { name: "Set these rules" }).click();
    await page.getByText("threads: 31 days").waitFor();
    await page.getByRole("link", { name: "The organization" }).click();
    await page.getByRole("heading", { name: "The rules of The organization" }).waitFor();
    expect(await page.getByLabel("Days of threads").inputValue()).toBe("31");
    await inspect(page, "retention");
    await page.getByRole("button", { name: "Remove" }).click();
    await page.getByRole("heading", { name: "Everything is kept until somebody deletes it" }).waitFor();
  });
});

describe("an export", () => {
  test("of a key and of an end user is saved whole, and names what cannot be", async () => {
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

  test("that was cut off is no file", async () => {
    const page = await open("privacy?section=exports");
    await page.route("**/api/exports?*", (route) => route.fulfill({ body: '{"type":"export"}\n{"type":"thread"}\n' }));
    await page.getByRole("button", { name: "Export", exact: true }).click();
    await page.getByRole("alert").getByText("The export was cut off").waitFor();
    await inspect(page, "exports-cut");
  });
});

describe("an erasure", () => {
  test("begins after a typed word, shows how far it is, and leaves a certificate", async () => {
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
    await row.getByText("1 thread, 0 files").waitFor();
    await inspect(page, "erasures");
    const { lines } = await saved(page, () => row.getByRole("link", { name: "Certificate" }).click());
    expect(lines.map(({ type }) => type)).toEqual(["certificate", "erased", "end"]);
    expect(lines[0].owner).toBe(`key:${id}`);
  });

  test("is for administrators, like all of it", async () => {
    const page = await open("privacy?section=erasures", await tenant.member("builder"));
    await page.getByRole("heading", { name: "For administrators" }).waitFor();
    expect(await page.getByRole("link", { name: "Privacy" }).count()).toBe(0);
    await inspect(page, "privacy-refused");
  });
});
