import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { HOSTILE, inspect, openConsole, PHONE } from "./browser.ts";

/* Conversations with agents and models. */

const WORDS = Array.from({ length: 15 }, (_, n) => `word${n + 1}`).join(" ");

const { tenant, open } = await openConsole();
const agent: { id: string } = await tenant.made(
  tenant.owner("POST", "/agents", { name: "Scripted", model: "offline/scripted", tools: ["search_documents"] }),
);

/** Opens the chat with an agent or a model. */
const openChat = (target: string, viewport?: typeof PHONE) =>
  open(`chat?with=${encodeURIComponent(target)}`, viewport && { viewport });

async function ask(page: Page, text: string): Promise<void> {
  await page.getByLabel("Question").fill(text);
  // even before the page has loaded the agent: the question waits for it
  await page.keyboard.press("Enter");
}
const again = (page: Page) => page.getByRole("button", { name: "Ask again" });

describe("a conversation", () => {
  test("with an agent shows its tools, appears in the list, and links to the explanation of its answer", async () => {
    const page = await openChat(`agent:${agent.id}`);
    await page.getByRole("heading", { name: "What do you want to know?" }).waitFor();
    await inspect(page, "chat-empty");
    await ask(
      page,
      '/tool search_documents {"query":"holidays"}\n/say **Twenty** days\n/say \n/say | Year | Days |\n/say | --- | --- |\n/say | 2026 | 25 |',
    );
    await again(page).waitFor();
    await expect.poll(() => page.url()).toMatch(/\/console\/chat\/[0-9a-f-]{36}/);
    await page.locator(".answer strong", { hasText: "Twenty" }).waitFor();
    await page.locator(".answer").getByRole("cell", { name: "25" }).waitFor();
    await page
      .locator(".answer")
      .getByText(/^[\d,]+ tokens, \d/)
      .waitFor();
    await page.locator("summary", { hasText: "search_documents" }).click();
    await page.getByText('"query": "holidays"').waitFor();
    await inspect(page, "chat-tools");
    await ask(page, "Second");
    await expect.poll(() => page.locator(".turn").count()).toBe(2);
    await again(page).waitFor();
    await page.getByRole("link", { name: "New conversation" }).click();
    await page.getByRole("navigation", { name: "Conversations" }).getByText("/tool search_documents").click();
    await expect.poll(() => page.locator(".turn").count()).toBe(2);
    await page.getByRole("link", { name: "Why this answer?" }).first().click();
    await expect.poll(() => page.url()).toContain("/console/requests/");
  });

  test("survives a reload during the answer", async () => {
    const page = await openChat(`agent:${agent.id}`, PHONE);
    await ask(page, `/slow 0.2\n/say ${WORDS}`);
    await page.locator(".answer", { hasText: "word3" }).waitFor();
    await page.getByRole("button", { name: "Stop" }).waitFor();
    await page.reload();
    await page.locator(".answer", { hasText: WORDS }).waitFor();
    await again(page).waitFor();
    expect(await page.locator(".turn").count()).toBe(1);
  });

  test("takes the next question while an answer is written, and does not say that it is being sent", async () => {
    const page = await openChat(`agent:${agent.id}`);
    await ask(page, `/slow 1\n/say ${WORDS}`);
    await page.locator(".answer", { hasText: "word1" }).waitFor();
    await page.getByLabel("Question").fill("And then?");
    expect(await page.getByText("Sending your question…").count()).toBe(0);
    await page.getByRole("button", { name: "Stop" }).click();
    await again(page).waitFor();
    expect(await page.getByLabel("Question").inputValue()).toBe("And then?");
  });

  test("keeps what is typed while a question is being sent, in a new conversation and in the same one", async () => {
    const page = await openChat("model:offline/echo");
    let held = Promise.withResolvers<void>();
    await page.route("**/chat/completions", async (route) => {
      await held.promise;
      await route.continue();
    });
    const question = page.getByLabel("Question");
    const typeOn = async (text: string, typed: string) => {
      await page.getByText("Sending your question…").waitFor();
      await question.pressSequentially(typed);
      expect(await question.inputValue()).toBe(text + typed);
      held.resolve();
    };
    await ask(page, "First");
    await typeOn("First", " And then?");
    await expect.poll(() => page.url()).toMatch(/\/console\/chat\/[0-9a-f-]{36}/);
    await again(page).waitFor();
    expect(await question.inputValue()).toBe("And then?");
    held = Promise.withResolvers<void>();
    await question.press("Enter");
    await typeOn("And then?", " Why?");
    await expect.poll(() => page.locator(".turn").count()).toBe(2);
    await again(page).waitFor();
    expect(await question.inputValue()).toBe("Why?");
    expect(await page.evaluate("Object.entries(sessionStorage).filter(([key]) => key.startsWith('draft'))")).toEqual([
      [expect.stringMatching(/^draft question [0-9a-f-]{36} $/), "Why?"],
    ]);
  });

  test("is stopped by a button, and keeps the text so far", async () => {
    const page = await openChat(`agent:${agent.id}`);
    await ask(page, `/slow 1\n/say ${WORDS}`);
    await page.locator(".answer", { hasText: "word1" }).waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByText("The answer was stopped.").waitFor();
    await page.locator(".answer", { hasText: "word1" }).waitFor();
    await inspect(page, "chat-stopped");
  });

  test.each([
    ["a model", () => "model:offline/echo"],
    ["an agent", () => `agent:${agent.id}`],
  ])("with %s is forked from one of its answers, and both continue independently", async (_, target) => {
    const page = await openChat(target());
    const turns = () => page.locator(".turn .asked").allTextContents();
    await ask(page, "First");
    await again(page).waitFor();
    await ask(page, "Second");
    await expect.poll(() => page.locator(".turn").count()).toBe(2);
    await again(page).waitFor();
    const first = page.url();
    await page.getByRole("link", { name: "Fork from here" }).first().click();
    await page.getByRole("heading", { name: "A fork of a conversation" }).waitFor();
    await page.getByText("the first conversation stays as it is", { exact: false }).waitFor();
    await expect.poll(turns).toEqual([expect.stringContaining("First")]);
    await inspect(page, "chat-fork");
    await ask(page, "Third");
    await expect.poll(() => page.url()).toMatch(/\/console\/chat\/[0-9a-f-]{36}/);
    await again(page).waitFor();
    const expected = [expect.stringContaining("First"), expect.stringContaining("Third")];
    await expect.poll(turns).toEqual(expected);
    expect(page.url()).not.toContain(first);
    await page.reload();
    await expect.poll(turns).toEqual(expected);
    await ask(page, "Fourth");
    await expect.poll(async () => (await turns()).length).toBe(3);
    await again(page).waitFor();
    // one of them survives the deletion of the other
    const deleted = await tenant.owner("DELETE", `/threads/${new URL(first).pathname.split("/").at(-1)}`);
    expect(deleted.status).toBe(200);
    await page.reload();
    await expect.poll(async () => (await turns()).length).toBe(3);
  });

  test("with a model accepts files, and shows all messages as plain text", async () => {
    const page = await openChat("model:offline/echo");
    const note = { name: `note ${HOSTILE}.txt`.replaceAll("/", ""), mimeType: "text/plain", buffer: Buffer.from("Hi") };
    await page.locator("input[type=file]").setInputFiles(note);
    await page.getByRole("list", { name: "Attached files" }).waitFor();
    await inspect(page, "chat-files");
    await ask(
      page,
      `${HOSTILE}\n\n[harmless](javascript:reportViolation('ran')) and [safe](https://example.com/) \`code\``,
    );
    await again(page).waitFor();
    const answer = page.locator(".answer");
    await answer.getByText("2 bytes]").waitFor();
    await answer.getByRole("link", { name: "safe" }).waitFor();
    expect(await answer.getByRole("link", { name: "harmless" }).count()).toBe(0);
    await expect.poll(() => page.locator(".answer code").first().textContent()).toBe("code");
    await again(page).click();
    await expect.poll(() => page.locator(".turn").count()).toBe(2);
    await again(page).waitFor();
    await inspect(page, "chat-hostile");
  });

  test("attaches every file that is not refused, and names the others with the reason", async () => {
    const page = await openChat("model:offline/echo");
    let sent = 0;
    await page.route("**/openai/v1/files", (route) =>
      sent++ === 0 ? route.fulfill({ status: 413, json: { error: { message: "Too large." } } }) : route.continue(),
    );
    const choose = (names: string[]) =>
      page
        .locator("input[type=file]")
        .setInputFiles(names.map((name) => ({ name, mimeType: "text/plain", buffer: Buffer.from(name) })));
    const attached = page.getByRole("list", { name: "Attached files" }).getByRole("listitem");
    await choose(["large.txt", "small.txt"]);
    await page.getByRole("alert").getByText("Not attached: large.txt.").waitFor();
    await page.getByRole("alert").getByText("Too large.").waitFor();
    await expect.poll(() => attached.allTextContents()).toEqual([expect.stringContaining("small.txt")]);
    await inspect(page, "chat-file-refused");
    await choose(Array.from({ length: 17 }, (_, n) => `more ${n}.txt`));
    await page.getByRole("alert").getByText("Not attached: more 15.txt, more 16.txt.").waitFor();
    await page.getByRole("alert").getByText("16 files are attached at most.").waitFor();
    expect(await attached.count()).toBe(16);
  });

  test("sends a question only once all its files are stored, and names each file that is refused", async () => {
    const page = await openChat("model:offline/echo");
    const { promise, resolve: release } = Promise.withResolvers<void>();
    let posts = 0;
    await page.route("**/openai/v1/files", async (route) => {
      const n = posts++;
      if (n === 0) await promise;
      return n < 2 ? route.continue() : route.fulfill({ status: 413, json: { error: { message: "Too large." } } });
    });
    const choose = async (name: string, count: number) => {
      await page.locator("input[type=file]").setInputFiles({ name, mimeType: "text/plain", buffer: Buffer.from(name) });
      await expect.poll(() => posts).toBe(count);
    };
    const attached = page.getByRole("list", { name: "Attached files" }).getByRole("listitem");
    await choose("slow.txt", 1);
    await choose("fast.txt", 2);
    await expect.poll(() => attached.count()).toBe(1);
    await choose("large.txt", 3);
    await page.getByRole("alert").getByText("Not attached: large.txt.").waitFor();
    await choose("huge.txt", 4);
    await page.getByRole("alert").getByText("Not attached: large.txt, huge.txt.").waitFor();
    await ask(page, "What is in them?");
    const isOff = () => page.getByRole("button", { name: "Ask", exact: true }).getAttribute("aria-disabled");
    expect(await isOff()).toBe("true");
    release();
    await expect.poll(() => attached.count()).toBe(2);
    await expect.poll(isOff).toBe(null);
    const sent = page.waitForRequest("**/chat/completions");
    await page.getByLabel("Question").press("Enter");
    expect((await sent).postDataJSON().attachments).toHaveLength(2);
  });

  test("does not navigate a person who has left the page, and shows its errors only on its own page", async () => {
    const page = await openChat("model:offline/echo");
    const { promise, resolve: release } = Promise.withResolvers<void>();
    await page.route("**/chat/completions", async (route) => {
      await promise;
      await route.continue();
    });
    await ask(page, "Asked before leaving");
    await page.getByText("Sending your question…").waitFor();
    await page.getByRole("link", { name: "Agents", exact: true }).click();
    await page.getByRole("heading", { name: "Agents", exact: true }).waitFor();
    const answered = page.waitForResponse("**/chat/completions");
    release();
    await answered;
    const titles = async () => (await tenant.made(tenant.owner("GET", "/threads"))).data.map(({ title }: any) => title);
    await expect.poll(titles).toContain("Asked before leaving");
    expect(page.url()).toContain("/console/agents");
    await page.getByRole("link", { name: "Chat", exact: true }).click();
    await page.getByRole("heading", { name: "What do you want to know?" }).waitFor();
    await page.getByLabel("Answered by").selectOption("model:offline/echo");
    await page.unroute("**/chat/completions");
    await page.route("**/chat/completions", (route) =>
      route.fulfill({ status: 422, json: { error: { message: "No such luck" } } }),
    );
    await ask(page, "Refused");
    await page.getByText("No such luck").waitFor();
    await page.getByRole("navigation", { name: "Conversations" }).getByText("Asked before leaving").click();
    await page.locator(".answer", { hasText: "Asked before leaving" }).waitFor();
    expect(await page.getByText("No such luck").count()).toBe(0);
  });

  test("explains a failed answer, and reports an unknown conversation", async () => {
    const page = await openChat(`agent:${agent.id}`);
    await ask(page, "/fail 400");
    await page.getByText("The provider answered 400").waitFor();
    await again(page).waitFor();
    await inspect(page, "chat-failed");
    await page.goto(`${tenant.url}/console/chat/01900000-0000-7000-8000-000000000000`);
    await page.getByText("code thread_not_found").first().waitFor();
    await inspect(page, "chat-missing");
  });
});
