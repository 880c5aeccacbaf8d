import { describe, expect, test } from "vitest";
import { say } from "../http/service.ts";
import { SOON } from "../soon.ts";
import { HOSTILE, inspect, openConsole, PHONE } from "./browser.ts";

/* A builder's way to why an answer came out as it did. */

const { tenant, open } = await openConsole();

const ask = (text: string, more: Record<string, unknown> = {}) =>
  tenant.key("POST", "/openai/v1/chat/completions", say(text, more));
const scripted = (text: string, more: Record<string, unknown> = {}) =>
  ask(text, { model: "offline/scripted", ...more });

describe("the requests", () => {
  test("are empty at first, keep their place while new ones arrive, and can be filtered by address", async () => {
    const page = await open("requests");
    await page.getByRole("heading", { name: "Nothing has been asked yet" }).waitFor();
    await inspect(page, "requests-empty");
    await ask(`What is ${HOSTILE}?`);
    await scripted("/say some words here\n/cut", { stream: true });
    await page.getByRole("button", { name: "Show 2 new requests" }).click();
    await expect.poll(() => page.getByRole("row").count(), SOON).toBe(3);
    await page.getByText(`What is ${HOSTILE}?`).waitFor();
    await inspect(page, "requests");
    await page.getByLabel("Status").selectOption("failed");
    await expect.poll(() => page.url(), SOON).toContain("status=failed");
    await page.reload();
    await expect.poll(() => page.getByRole("row").count(), SOON).toBe(2);
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await page.getByText("It failed:").waitFor();
    expect(page.url()).toContain("peek=");
    await page.reload();
    await page.getByText("It failed:").waitFor();
    await inspect(page, "request-peek");
    // the list stays beside it; Escape returns to its row
    await expect.poll(() => page.getByRole("row").count(), SOON).toBe(2);
    await page.getByRole("link", { name: /^Model: answer/ }).focus();
    await page.keyboard.press("Escape");
    await expect.poll(() => page.getByText("It failed:").count(), SOON).toBe(0);
    expect(await page.evaluate("document.activeElement.matches('[data-row]')")).toBe(true);
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "Open", exact: true }).click();
    await page.getByRole("link", { name: "← Requests" }).waitFor();
    await page.getByText("It failed:").waitFor();
    await inspect(page, "request-failed");
  });

  test("of another person's conversation open for a builder as a request, and a person's own open the chat", async () => {
    const theirs = await ask("Asked by a key");
    const page = await open("", await tenant.member("builder"));
    const goTo = async (id: string) => {
      await page.keyboard.press("Control+k");
      await page.getByRole("dialog", { name: "Go to" }).getByRole("searchbox").fill(id);
      await page.keyboard.press("Enter");
    };
    await page.getByRole("heading", { name: "Home" }).waitFor();
    await goTo(theirs.headers.get("x-thread-id")!);
    await page.waitForURL(/requests\?thread=/);
    await page.getByText("Asked by a key").waitFor();
    expect(await page.getByRole("row").count()).toBe(2);
    await page.goto(`${tenant.url}/console/chat?with=${encodeURIComponent("model:offline/echo")}`);
    await page.getByLabel("Question").fill("My own");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Ask again" }).waitFor();
    const own = new URL(page.url()).pathname.split("/").at(-1)!;
    await page.goto(`${tenant.url}/console/`);
    await page.getByRole("heading", { name: "Home" }).waitFor();
    await goTo(own);
    await page.waitForURL(`**/chat/${own}`);
  });

  test("can be filtered on a phone behind one button, which shows the number of filters", async () => {
    const page = await open("requests?status=failed&model=offline%2Fscripted", { viewport: PHONE });
    await page.getByText("Filters (2 set)").waitFor();
    expect(await page.getByLabel("Text of the error").isVisible()).toBe(false);
    await page.getByText("Filters (2 set)").click();
    await page.getByLabel("Status").selectOption("");
    await page.getByText("Filters (1 set)").waitFor();
    expect(await page.getByLabel("Text of the error").isVisible()).toBe(true);
  });

  test("come in pages that are part of the address", async () => {
    await Promise.all(Array.from({ length: 51 }, (_, n) => ask(`Question ${n}`)));
    const page = await open("requests?model=offline%2Fecho");
    await expect.poll(() => page.getByRole("row").count(), SOON).toBe(51);
    await page.getByRole("link", { name: "Older" }).click();
    await expect.poll(() => page.url(), SOON).toContain("after=");
    await page.getByText("What is").waitFor();
    await page.getByRole("link", { name: "Newest" }).click();
    await expect.poll(() => page.getByRole("row").count(), SOON).toBe(51);
  });
});

describe("a request", () => {
  test("shows every call of the model and of tools over time, the exact prompt, the answer and its events", async () => {
    await tenant.made(tenant.owner("POST", "/v1/knowledge/collections", { name: "Handbook" }));
    const { body, text } = await scripted(
      `/tool search_documents {"query":${JSON.stringify(HOSTILE)}}\n/say Done ${HOSTILE}`,
      {
        tools: [{ type: "function", function: { name: "search_documents" } }],
        messages: [
          { role: "system", content: `Be kind. ${HOSTILE}` },
          { role: "user", content: `/tool search_documents {"query":"holidays"}\n/say Done ${HOSTILE}` },
        ],
      },
    );
    expect(text).toContain("chatcmpl-");
    const page = await open(`requests/${body.id.replace("chatcmpl-", "")}`);
    await page.getByRole("link", { name: /^search_documents/ }).click();
    await page.getByText("built in").waitFor();
    await expect.poll(() => page.url(), SOON).toContain("line=call-0-0");
    await page.getByText(`Be kind. ${HOSTILE}`).waitFor();
    await page.getByText("ToolFinished").waitFor();
    await page.locator("summary", { hasText: "Settings" }).click();
    await inspect(page, "request");
    await page.getByRole("link", { name: /^Model: answer/ }).click();
    await expect.poll(() => page.getByText(`Done ${HOSTILE}`).count(), SOON).toBeGreaterThan(1);
  });

  test("shows the complete prompt of each model call, with the earlier tool calls and their results", async () => {
    const { body } = await scripted(
      `/rounds 2\n/tool search_documents {"query":"days"}\n/tool no_such {"text":${JSON.stringify(HOSTILE)}}`,
      { tools: [{ type: "function", function: { name: "search_documents" } }] },
    );
    const page = await open(`requests/${body.id.replace("chatcmpl-", "")}`);
    const prompt = page.getByRole("region", { name: "Prompt" });
    const roles = () => prompt.locator(".message > p:first-child").allTextContents();
    const round = ["assistant", "tool", "tool"];
    // the last call is the one that answered
    await expect.poll(roles, SOON).toEqual(["user", ...round, ...round]);
    const [call] = await prompt.getByLabel(/^Calls search_documents/).allTextContents();
    expect(JSON.parse(call!)).toEqual({ query: "days" });
    expect(await prompt.getByLabel(/^Result of the call/).allTextContents()).toHaveLength(4);
    await inspect(page, "request-prompt-of-rounds");
    const calls = prompt.getByRole("navigation", { name: "Call of the model" });
    await calls.getByRole("link", { name: "Call 2, after search_documents, no_such" }).click();
    await expect.poll(roles, SOON).toEqual(["user", ...round]);
    await page.reload();
    await expect.poll(roles, SOON).toEqual(["user", ...round]);
    await calls.getByRole("link", { name: "Call 1", exact: true }).click();
    await expect.poll(roles, SOON).toEqual(["user"]);
    await page.getByRole("link", { name: /^Model: answer/ }).click();
    await page.getByRole("link", { name: "See what it received" }).click();
    await expect.poll(roles, SOON).toEqual(["user", ...round, ...round]);
  });

  test("of an alias shows which targets were asked, why they failed and which one answered", async () => {
    const targets = ["scripted", "echo", "extractive"].map((model) => ({ model: `offline/${model}` }));
    expect((await tenant.owner("PUT", "/aliases/fast", { targets })).status).toBe(200);
    const { status, headers } = await ask("/fail 503\nHello", { model: "fast" });
    expect(status).toBe(200);
    const page = await open(`requests/${headers.get("x-turn-id")}`);
    const part = page.getByRole("region", { name: "Targets of fast" });
    const items = async () =>
      (await part.getByRole("listitem").allInnerTexts()).map((text) => text.replace(/\d+ ms/g, "n ms"));
    await part.waitFor();
    expect(await items()).toEqual([
      expect.stringMatching(/^offline\/scripted: answered 503, /),
      "offline/echo: answered",
      "offline/extractive: not needed",
    ]);
    await inspect(page, "request-targets");
  });

  test("renders Markdown, and shows the raw text on request", async () => {
    const { body } = await scripted("/say A **bold** word", {
      messages: [{ role: "user", content: `# Heading\n\n- *one*\n\n${HOSTILE}\n/say A **bold** word` }],
    });
    const page = await open(`requests/${body.id.replace("chatcmpl-", "")}`);
    const [prompt, answer] = [
      page.getByRole("region", { name: "Prompt" }),
      page.getByRole("region", { name: "Answer", exact: true }),
    ];
    await prompt.locator(".words em", { hasText: "one" }).waitFor();
    await answer.locator(".words strong", { hasText: "bold" }).waitFor();
    await inspect(page, "request-formatted");
    await answer.getByRole("button", { name: "Raw text" }).click();
    await answer.getByText("A **bold** word").waitFor();
    expect(await prompt.locator(".words em").count()).toBe(1);
    await prompt.getByRole("button", { name: "Raw text" }).click();
    await prompt.getByText("# Heading").waitFor();
    await inspect(page, "request-raw");
  });

  test("can be shown as of each of its events", async () => {
    const { body } = await scripted(`/tool search_documents {"query":"when"}\n/say Done then`, {
      tools: [{ type: "function", function: { name: "search_documents" } }],
    });
    const page = await open(`requests/${body.id.replace("chatcmpl-", "")}`);
    await page.getByRole("link", { name: "TurnStarted" }).waitFor();
    expect(await page.getByRole("heading", { name: "Answer" }).count()).toBe(1);
    await page.getByRole("link", { name: "as of here" }).first().click();
    await page.getByText("As it was after event 1 of").waitFor();
    // the request took no time until its first event, however late somebody looks
    await page.getByText("0 ms so far").waitFor();
    await expect.poll(() => page.getByRole("heading", { name: "Answer" }).count(), SOON).toBe(0);
    expect(await page.getByRole("link", { name: /^search_documents/ }).count()).toBe(0);
    await inspect(page, "request-as-of");
    await page.getByRole("link", { name: "Event after" }).click();
    await page.getByRole("link", { name: /^search_documents/ }).click();
    await page.getByText("none yet").waitFor();
    await page.reload();
    await page.getByText("none yet").waitFor();
    await page.getByRole("link", { name: "Now", exact: true }).click();
    await page.getByRole("heading", { name: "Answer" }).waitFor();
    expect(page.url()).not.toContain("as_of");
    await page.goto(`${tenant.url}${new URL(page.url()).pathname}?as_of=nonsense`);
    await page.getByRole("alert").getByText("field as_of").waitFor();
    // not even while it is read again
    await page.route("**/trace?as_of=nonsense", () => {});
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByText("Loading the request").waitFor();
    expect(await page.getByRole("heading", { name: "Answer" }).count()).toBe(0);
  });

  test("that does not exist is reported", async () => {
    const page = await open("requests/nonsense");
    await page.getByRole("alert").getByText("code turn_not_found").waitFor();
    await inspect(page, "request-missing");
  });

  test("opens for an approver only if it is the approver's own", async () => {
    const approver = await tenant.member("approver");
    const answer = await approver.call("POST", "/openai/v1/chat/completions", say("My own question"));
    expect(answer.status).toBe(200);
    const page = await open("requests", approver);
    await expect.poll(() => page.getByRole("row").count(), SOON).toBe(2);
    await page.getByText("My own question").click();
    await page.getByRole("heading", { name: "Answer" }).waitFor();
    await inspect(page, "request-own");
  });
});
