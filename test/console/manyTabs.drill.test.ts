import { expect, test } from "vitest";
import { say } from "../http/service.ts";
import { SOON } from "../soon.ts";
import { openConsole, PHONE } from "./browser.ts";

/* Much at once: tabs of one browser, messages of one conversation, and people of every role. */

const { tenant, open } = await openConsole();

test("eight tabs and a phone load and show all changes over one connection per browser", async () => {
  const first = await open("settings?section=projects");
  const others = await Promise.all(Array.from({ length: 7 }, () => first.context().newPage()));
  const tabs = [first, ...others];
  let listening = 0;
  for (const tab of others)
    tab.on("request", (request) => {
      if (request.url().includes("/api/changes")) listening++;
    });
  for (const tab of others) await tab.goto(`${tenant.url}/console/settings?section=projects`);
  const phone = await open("settings?section=projects", { viewport: PHONE });
  for (const tab of [...tabs, phone]) await tab.getByRole("heading", { name: "There are no projects" }).waitFor();
  expect(listening).toBeLessThanOrEqual(1);
  await tenant.made(tenant.owner("POST", "/projects", { name: "Seen everywhere" }));
  for (const tab of [...tabs, phone]) {
    await tab.bringToFront();
    await tab.getByRole("link", { name: "Seen everywhere" }).waitFor();
  }
});

test("changes made while no tab is connected are shown in every window after another tab connects", async () => {
  await tenant.made(tenant.owner("POST", "/projects", { name: "Made before" }));
  const leading = await open("settings?section=projects");
  await leading.getByRole("link", { name: "Made before" }).waitFor();
  const context = leading.context();
  const windows = [await context.newPage(), await context.newPage()];
  for (const one of windows) {
    await one.goto(`${tenant.url}/console/settings?section=projects`);
    await one.getByRole("link", { name: "Made before" }).waitFor();
  }
  const { promise: isMade, resolve: made } = Promise.withResolvers<void>();
  await context.route(/\/api\/changes/, async (route) => {
    await isMade;
    await route.continue();
  });
  await leading.close();
  await tenant.made(tenant.owner("POST", "/projects", { name: "Made unseen" }));
  for (const one of windows) expect(await one.getByRole("link", { name: "Made unseen" }).count()).toBe(0);
  made();
  for (const one of windows) await one.getByRole("link", { name: "Made unseen" }).waitFor();
});

test("a conversation of 500 messages opens with its newest ones, and scrolls to its first", async () => {
  const messages = Array.from({ length: 499 }, (_, n) => ({
    role: n % 2 === 0 ? "user" : "assistant",
    content: `Message ${n}: **bold**, a list\n\n- one\n- two`,
  }));
  const answer = await tenant.owner("POST", "/openai/v1/chat/completions", { ...say(""), messages });
  expect(answer.status).toBe(200);
  const page = await open(`chat/${answer.headers.get("x-thread-id")}`);
  await page.getByText("Message 498").first().waitFor();
  await page.getByText("Message 0:").first().scrollIntoViewIfNeeded();
  expect(await page.getByText("Message 0:").first().isVisible()).toBe(true);
});

test("each role sees its screens, and the address of another screen says who may see it", async () => {
  const namesFor = async (role: "builder" | "approver" | "viewer") => {
    const page = await open("members", await tenant.member(role));
    await page.getByRole("heading", { name: "Members" }).waitFor();
    const names = await page.getByRole("navigation", { name: "Main" }).getByRole("link").allTextContents();
    for (const screen of ["keys", "log"]) {
      await page.goto(`${tenant.url}/console/${screen}`);
      await page.getByText("Owners and administrators see this.").waitFor();
    }
    return names.map((name) => name.trim());
  };
  const all = ["Home", "Inbox", "Chat", "Requests", "Runs", "Agents", "Knowledge", "Extractions", "Workflows"];
  const everybody = [...all, "Schedules", "Events", "Members", "Settings", "Docs"];
  expect(await namesFor("viewer")).toEqual(everybody);
  // an approver begins in the inbox
  expect(await namesFor("approver")).toEqual(everybody.filter((name) => name !== "Home"));
  expect(await namesFor("builder")).toEqual([...all, "Schedules", "Events", "Tools", "Members", "Settings", "Docs"]);
  const owner = await open("");
  const names = () => owner.getByRole("navigation", { name: "Main" }).getByRole("link").count();
  await expect.poll(names, SOON).toBe(21);
});

test("a person without a mouse asks, opens the request, decides, and returns", async () => {
  const run = await tenant.start(
    await tenant.register(`export const run = (ctx) => ctx.awaitApproval("boss", { title: "By keys?" });`),
  );
  await tenant.pending(run);
  const page = await open("chat");
  await page.getByRole("heading", { name: "New conversation" }).waitFor();
  const press = async (...keys: string[]) => {
    for (const key of keys) await page.keyboard.press(key);
  };
  await page.getByRole("textbox").last().focus();
  await page.keyboard.type("Hello by keys");
  await press("Tab");
  await page.getByRole("button", { name: "Ask", exact: true }).focus();
  await press("Enter");
  await page.locator(".answer").first().waitFor();
  await page.evaluate("document.activeElement.blur()");
  await press("g", "q");
  await page.getByRole("heading", { name: "Requests" }).waitFor();
  await page.getByText("Hello by keys").first().waitFor();
  await press("j", "Enter");
  await page.getByRole("heading", { name: "Answer" }).waitFor();
  await press("Escape", "g", "i");
  await page.getByRole("heading", { name: "Inbox" }).waitFor();
  await page.getByText("By keys?").waitFor();
  await press("j", "Enter");
  await page.getByRole("button", { name: "Approve" }).focus();
  await press("Enter");
  await page.getByText("Approved by").waitFor();
});
