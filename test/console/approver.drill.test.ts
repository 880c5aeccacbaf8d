import { readFileSync } from "node:fs";
import type { Locator } from "playwright-core";
import { describe, expect, test } from "vitest";
import { SOON } from "../soon.ts";
import { HOSTILE, inspect, openConsole, PHONE, refuseNext, shownSecret } from "./browser.ts";

/* An approver's and a builder's way through the console, in a real browser. */

const REFUND = readFileSync(new URL("../../examples/refund.ts", import.meta.url), "utf8");
const ASKING = `
export const steps = { check: ({ n }) => { if (n > 1) throw new Error(${JSON.stringify(HOSTILE)}); return { n }; } };
export async function run(ctx, { n }) {
  await ctx.runStep("check", { n });
  const answer = await ctx.awaitApproval("boss", {
    title: ${JSON.stringify(`Pay ${HOSTILE}?`)},
    body: ${JSON.stringify(`Line one\n${HOSTILE}`)},
    form: {
      type: "object",
      properties: {
        amount: { type: "integer", title: "Amount", minimum: 1 },
        reason: { type: "string", enum: ["damaged", "late"], title: "Reason" },
        notify: { type: "boolean", title: "Tell the customer" },
      },
      required: ["amount", "reason"],
    },
  });
  return ctx.complete(answer);
}`;

const { tenant, open, newPage } = await openConsole();
const refund: { id: string } = await tenant.register(REFUND, {}, { name: "Refund" });
const asking: { id: string } = await tenant.register(ASKING, {}, { name: "Asking" });
const waits = (run: string) => tenant.until(run, ({ waiting_on }) => waiting_on.length > 0);

test("a link lets a person without an account decide once on a phone, and shows nothing else", async () => {
  const run = await tenant.start(asking, { n: 1 });
  const { id } = (await waits(run)).waiting_on[0];
  const mine = await open(`inbox/${id}`);
  await mine.getByText("Share a link").click();
  await mine.getByLabel("For whom").fill(HOSTILE);
  await mine.getByRole("button", { name: "Create a link" }).click();
  await mine.getByText("It is shown only now.").waitFor();
  await inspect(mine, "approval-link");
  const { pathname, hash } = new URL(await shownSecret(mine));
  const guest = await newPage(PHONE);
  await guest.goto(`${tenant.url}${pathname}${hash}`);
  await guest.getByRole("heading", { name: `Pay ${HOSTILE}?` }).waitFor();
  expect(await guest.getByRole("navigation").count()).toBe(0);
  await inspect(guest, "linked-approval");
  await guest.getByLabel("Amount").fill("5");
  await guest.getByLabel("Reason").selectOption("late");
  await guest.getByRole("button", { name: "Approve" }).click();
  await guest.getByText("You approved this.").waitFor();
  await mine.getByText(`Approved by ${HOSTILE}`).waitFor();
  await guest.reload();
  await guest.getByText("This link was used").waitFor();
  await inspect(guest, "linked-approval-used");
  expect((await tenant.untilOver(run)).result).toMatchObject({ approved: true, data: { amount: 5, reason: "late" } });
});

describe("the inbox", () => {
  test("is empty at first, and names the next step", async () => {
    const page = await open("inbox");
    await page.getByRole("heading", { name: "Nothing waits for you" }).waitFor();
    expect(page.url()).toBe(`${tenant.url}/console/inbox`);
    await inspect(page, "inbox-empty");
  });

  test("shows a new approval without a reload; a decision on a phone ends the run live", async () => {
    const page = await open("inbox", { viewport: PHONE });
    const run = await tenant.start(refund, { order: "A-17", amount: 900 });
    await page.getByText("Refund 900 for A-17?").click();
    await page.getByRole("button", { name: "Approve" }).waitFor();
    await inspect(page, "approval");
    await page.getByLabel("Comment").fill("fine");
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByText("Approved by").waitFor();
    await page.getByText("The workflow has completed").waitFor();
    await inspect(page, "approval-completed");
    await page.getByRole("link", { name: "See the run that asks" }).click();
    await page.getByText("completed", { exact: true }).first().waitFor();
    expect(page.url()).toContain(`/console/runs/${run}`);
    await page.getByRole("link", { name: /^refund/ }).click();
    await page.getByText("idempotency key").waitFor();
    await inspect(page, "run");
  });

  test("shows a workflow's texts as plain text, and sends the values of the form", async () => {
    const run = await tenant.start(asking, { n: 1 });
    const { id } = (await waits(run)).waiting_on[0];
    const page = await open(`inbox/${id}`);
    await page.getByRole("heading", { name: `Pay ${HOSTILE}?` }).waitFor();
    await inspect(page, "approval-form");
    await page.getByLabel("Amount").fill("5");
    expect(await page.getByLabel("Reason").inputValue()).toBe("");
    await page.getByLabel("Reason").selectOption("late");
    await page.getByLabel("Tell the customer").check();
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByText("Approved by").waitFor();
    const { result } = await tenant.untilOver(run);
    expect(result).toMatchObject({ approved: true, data: { amount: 5, reason: "late", notify: true } });
    const entered = page.getByLabel("What was entered");
    expect(await entered.locator("dt").allTextContents()).toEqual(["Amount", "Reason", "Tell the customer"]);
    expect(await entered.locator("dd").allTextContents()).toEqual(["5", "late", "yes"]);
    await inspect(page, "approval-decided");
  });
});

test("leaving an approval whose decision was refused asks first, because its fields would be lost", async () => {
  const { id } = (await waits(await tenant.start(asking, { n: 1 }))).waiting_on[0];
  const page = await open(`inbox/${id}`);
  await page.route("**/decision", (route) =>
    route.fulfill({ status: 400, json: { error: { message: "Not like this.", code: "invalid" } } }),
  );
  await page.getByLabel("Amount").fill("5");
  await page.getByLabel("Reason").selectOption("late");
  await page.getByRole("button", { name: "Approve" }).click();
  await page.getByRole("alert").getByText("Not like this.").waitFor();
  const asked = refuseNext(page);
  await page.getByRole("link", { name: "Runs", exact: true }).click();
  await expect.poll(() => asked, SOON).toEqual(["Leave the page? What you wrote is not saved."]);
  expect(await page.getByLabel("Amount").inputValue()).toBe("5");
});

test("sends files with a comment and with a decision, and shows them on the page of the run", async () => {
  const run = await tenant.start(refund, { order: "A-20", amount: 900 });
  const { id } = (await waits(run)).waiting_on[0];
  const page = await open(`inbox/${id}`);
  const attach = async (where: Locator, name: string) => {
    await where.locator("input[type=file]").setInputFiles({ name, mimeType: "text/plain", buffer: Buffer.from(name) });
    await where.getByText(name).waitFor();
  };
  const discussion = page.getByRole("region", { name: "Discussion" });
  await discussion.getByText("Comment without deciding").click();
  await discussion.getByLabel("Message").fill("Their offer");
  await attach(discussion, "offer <b>.txt");
  await discussion.getByRole("button", { name: "Send" }).click();
  await discussion.getByRole("link", { name: /^offer/ }).waitFor();
  await attach(page.locator("form.decision").first(), "signed.txt");
  await inspect(page, "approval-files");
  await page.getByRole("button", { name: "Approve" }).click();
  await page.getByText("Approved by").waitFor();
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: "signed.txt" }).click(),
  ]);
  expect(readFileSync(await file.path(), "utf8")).toBe("signed.txt");
  await page.getByRole("link", { name: "See the run that asks" }).click();
  const row = page.getByRole("row", { name: /signed\.txt/ });
  await row.waitFor();
  await inspect(page, "run-files");
  await row.getByRole("link", { name: "an approval" }).click();
  await page.getByText("Approved by").waitFor();
});

describe("the order of the inbox", () => {
  test("is oldest first, on a phone too, and another order is in the address", async () => {
    const ask = (n: number) =>
      tenant.register(`export const run = (ctx) => ctx.awaitApproval("boss", { title: "Number ${n}?" });`, {});
    for (const n of [1, 2, 3]) await waits(await tenant.start(await ask(n), {}));
    const page = await open("inbox", { viewport: PHONE });
    const titles = async () =>
      (await page.locator("[data-row] .row-title").allTextContents()).filter((title) => title.startsWith("Number"));
    await expect.poll(titles, SOON).toEqual(["Number 1?", "Number 2?", "Number 3?"]);
    await inspect(page, "inbox-order");
    const { promise: isLate, resolve: answer } = Promise.withResolvers<void>();
    await page.route(/approvals\?.*order=newest/, async (route) => {
      await isLate;
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...(await response.json()), total: 70 } });
    });
    await page.getByLabel("Order").selectOption("newest first");
    await expect.poll(() => page.url()).toContain("order=newest");
    expect(await titles()).toEqual(["Number 1?", "Number 2?", "Number 3?"]);
    expect(await page.getByLabel("Order").inputValue()).toBe("newest");
    answer();
    await expect.poll(titles, SOON).toEqual(["Number 3?", "Number 2?", "Number 1?"]);
    const [next] = await Promise.all([
      page.waitForRequest(/order=newest.*offset=50/),
      page.getByRole("link", { name: "Next" }).click(),
    ]);
    expect(next.method()).toBe("GET");
    await page.getByRole("link", { name: "Previous" }).click();
    // a request that is still answered finishes first
    await page.unrouteAll({ behavior: "wait" });
    await page.reload();
    await expect.poll(titles, SOON).toEqual(["Number 3?", "Number 2?", "Number 1?"]);
    await page.getByLabel("Order").selectOption("oldest first");
    await page.locator("[data-row]", { hasText: "Number 1?" }).click();
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByText("Approved by").waitFor();
    await page.getByRole("link", { name: "← Inbox" }).click();
    await expect.poll(titles, SOON).toEqual(["Number 2?", "Number 3?"]);
  });
});

describe("an approval of several people", () => {
  test("can be commented on and delegated with a reason, and the substitute sees it as the other person does", async () => {
    const bob = await tenant.member("approver", "Bob");
    const { email } = tenant.credentials.admin;
    const asks = await tenant.register(
      `export const run = (ctx) => ctx.awaitApproval("boss", { title: "Go?", assignees: [{ person: "${email}" }] });`,
      {},
      { name: "Asks one" },
    );
    const run = await tenant.start(asks, {});
    const { id } = (await waits(run)).waiting_on[0];
    const page = await open(`inbox/${id}`);
    await page.getByText("Comment without deciding").click();
    await page.getByLabel("Message").fill(HOSTILE);
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByRole("region", { name: "Discussion" }).getByText(HOSTILE).waitFor();
    await page.getByText("Delegate", { exact: true }).click();
    await page.getByRole("combobox", { name: /^To/ }).selectOption(bob.id);
    await page.getByLabel("Why").fill("He knows it");
    await inspect(page, "approval-delegating");
    await page.getByRole("button", { name: "Delegate it" }).click();
    await page.getByText("“He knows it”").waitFor();
    await page.getByText("This is for Bob to decide.").waitFor();
    expect(await page.getByRole("button", { name: "Approve" }).count()).toBe(0);
    expect(await page.getByText("Share a link").count()).toBe(0);
    await inspect(page, "approval-delegated");
    await page.goto(`${tenant.url}/console/inbox`);
    await page.getByText("Away for a while?").waitFor();
    const me = (await tenant.owner("GET", "/auth/me")).body.user;
    const until = new Date(Date.now() + 86_400_000).toISOString();
    await bob.call("PUT", `/members/${bob.id}/substitute`, { substitute: me.id, until });
    await page.reload();
    await page.getByText("for Bob").waitFor();
    await page.getByText("Away for a while?").click();
    await inspect(page, "inbox-away");
    await page.getByLabel("Substitute").selectOption(bob.id);
    const day = until.slice(0, 10);
    await page.getByLabel("First day").fill(day);
    await page.getByLabel("Last day").fill(day);
    await page.getByRole("button", { name: "Name the substitute" }).click();
    await page.getByText("Bob decides for you").waitFor();
    await page.getByRole("button", { name: "Withdraw the substitute" }).click();
    await page.getByText("Away for a while?").waitFor();
  });
});

describe("the runs", () => {
  test("keep their place while new ones start, can be filtered by address, and open with the keyboard", async () => {
    const failing = await tenant.start(asking, { n: 2 });
    await tenant.untilOver(failing);
    const page = await open("runs");
    await page.getByRole("table").waitFor();
    await tenant.start(refund, { order: "A-18", amount: 1 });
    await page.getByRole("button", { name: /^Show 1 new run/ }).waitFor();
    await inspect(page, "runs");
    await page.getByRole("button", { name: /^Show 1 new run/ }).click();
    await page.getByLabel("Status").selectOption("failed");
    await expect.poll(() => page.url()).toContain("status=failed");
    await page.reload();
    await expect.poll(() => page.getByRole("row").count()).toBe(2);
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await page.getByText("The step check failed").waitFor();
    await page.getByRole("link", { name: "line 2, column 65" }).first().waitFor();
    await page
      .getByText(/^export const steps = \{ check: /)
      .first()
      .waitFor();
    await page.getByRole("link", { name: /^check/ }).click();
    await inspect(page, "run-failed");
    await page.getByRole("link", { name: "line 2, column 65" }).first().click();
    await expect.poll(() => page.url()).toContain("line=2");
    await page.locator(".cm-activeLine", { hasText: "export const steps" }).waitFor();
  });

  test("are all shown by a browser with a slow clock, and can be filtered by the days on which they began", async () => {
    const run = await tenant.start(refund, { order: "A-19", amount: 1 });
    await tenant.untilOver(run);
    const page = await open("");
    await page.clock.setFixedTime(Date.now() - 3_600_000);
    await page.goto(`${tenant.url}/console/runs`);
    const row = page.locator(`a[href*="${run}"]`);
    await row.waitFor();
    await page.getByLabel("To", { exact: true }).fill("2020-01-01");
    await page.getByRole("heading", { name: "No run matches the filters" }).waitFor();
    expect(page.url()).toContain("to=2020-01-01");
    await page.getByLabel("To", { exact: true }).fill("");
    await row.waitFor();
  });

  test("that do not exist are reported with the code and the request", async () => {
    const page = await open("runs/01900000-0000-7000-8000-000000000000");
    await page.getByRole("alert").getByText("code run_not_found").waitFor();
    await inspect(page, "run-missing");
  });
});

describe("signing in", () => {
  test("asks for the password if there is no link, and reports what was wrong", async () => {
    const page = await newPage();
    await page.goto(`${tenant.url}/console/runs`);
    const { email, password } = tenant.credentials.admin;
    await page.getByLabel("E-mail").fill(email);
    await page.getByLabel("Password").fill("wrong");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("alert").getByText("invalid_credentials").waitFor();
    await inspect(page, "sign-in");
    await page.getByLabel("Password").fill(password);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Runs" }).waitFor();
    await page.keyboard.press("?");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("g");
    await page.keyboard.press("i");
    await page.getByRole("heading", { name: "Inbox" }).waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
  });
});

test("the body of an approval is shown as Markdown, but never as HTML", async () => {
  const body = `# Why\n\nOrder **A-17** came late.\n\n- once\n- twice\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\n[the order](https://shop.example/17) [no](javascript:alert(1)) ${HOSTILE}`;
  const source = `export const run = (ctx) => ctx.awaitApproval("boss", { title: "Pay?", body: ${JSON.stringify(body)} });`;
  const run = await tenant.start(await tenant.register(source, {}, { name: "Marked" }), {});
  const { id } = (await waits(run)).waiting_on[0];
  const page = await open(`inbox/${id}`);
  await page.locator(".words strong").getByText("A-17").waitFor();
  expect(await page.locator(".words li").allTextContents()).toEqual(["once", "twice"]);
  expect(await page.getByRole("link", { name: "the order" }).getAttribute("href")).toBe("https://shop.example/17");
  expect(await page.getByRole("link", { name: "no", exact: true }).count()).toBe(0);
  await page.getByText("<script>reportViolation").waitFor();
  await inspect(page, "approval-markdown");
});
