import { expect, test } from "vitest";
import { signIn } from "../agents/agents.ts";
import { say } from "../http/service.ts";
import { SOON, workflowSource } from "../workflows/tenant.ts";
import { agreeToAll, HOSTILE, inspect, openConsole, PHONE } from "./browser.ts";

/* What people come for, from where they begin, in few clicks and without guessing. */

const { tenant, open } = await openConsole();

test("a request is found by an id that a customer sent, with the keyboard and on a phone", async () => {
  const answer = await tenant.key("POST", "/openai/v1/chat/completions", say(`What is due? ${HOSTILE}`));
  const turn = answer.body.id.replace("chatcmpl-", "");
  const page = await open("");
  await page.getByRole("heading", { name: "Home" }).waitFor();
  await page.keyboard.press("Control+k");
  await page.keyboard.type("usa");
  await page.getByRole("dialog").getByRole("link", { name: "Usage" }).waitFor();
  await inspect(page, "go-to");
  await page.getByRole("searchbox").fill("no-such-id-1");
  await page.getByText("has this name, and nothing has this id.").waitFor();
  await page.getByRole("searchbox").fill(answer.headers.get("x-request-id")!);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Request" }).waitFor();
  expect(page.url()).toContain(`/requests/${turn}`);

  const phone = await open("", { viewport: PHONE });
  await phone.getByRole("button", { name: "Go to…" }).click();
  await phone.getByRole("searchbox").fill(answer.headers.get("x-thread-id")!);
  await phone
    .getByRole("dialog")
    .getByRole("link", { name: `request ${turn}` })
    .click();
  await phone.getByRole("heading", { name: "Request" }).waitFor();
  expect(await phone.getByRole("dialog").count()).toBe(0);
});

test("agents, collections, members and keys are found by a part of their name, but only by people who may see them", async () => {
  const named = { name: "Zebra crossing" };
  await tenant.made(tenant.owner("POST", "/agents", named));
  await tenant.made(tenant.owner("POST", "/v1/knowledge/collections", { ...named, slug: "zebra" }));
  await tenant.made(tenant.owner("POST", "/keys", { ...named, products: [] }));
  const { email } = await tenant.made(
    tenant.owner("POST", "/members", { ...named, email: "zebra@example.org", role: "viewer" }),
  );
  const page = await open("");
  await page.getByRole("heading", { name: "Home" }).waitFor();
  await page.keyboard.press("Control+k");
  await page.keyboard.type("zebra");
  const places = page.getByRole("dialog").getByRole("listitem");
  const questions = "Requests whose question has these words";
  const kinds = ["agent", "collection", "key", "member"].map((kind) => `Zebra crossing ${kind}`);
  await expect.poll(() => places.allTextContents(), SOON).toEqual([...kinds, questions]);
  await inspect(page, "go-to-named");
  await page.getByRole("searchbox").fill("no such name");
  await page.getByText("workflow, member or key that you may see has this name.").waitFor();
  await page.getByRole("searchbox").fill("zebra");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Zebra crossing" }).waitFor();
  expect(page.url()).toContain("/agents/");

  const viewer = await open("", { email });
  await viewer.getByRole("button", { name: "Go to…" }).click();
  await viewer.getByRole("searchbox").fill("zebra");
  const theirs = viewer.getByRole("dialog").getByRole("listitem");
  await expect.poll(() => theirs.allTextContents(), SOON).toEqual([kinds[0], kinds[1], kinds[3], questions]);
});

test("the palette says that more names match, and links to requests by words of their question", async () => {
  const make = (name: string) => tenant.made(tenant.owner("POST", "/keys", { name, products: [] }));
  await Promise.all(Array.from({ length: 21 }, (_, n) => make(`Long list ${n}`)));
  await tenant.key("POST", "/openai/v1/chat/completions", say("Do ostriches pay VAT 2026?"));
  await tenant.key("POST", "/openai/v1/chat/completions", say("Do emus pay?"));
  const page = await open("");
  await page.getByRole("heading", { name: "Home" }).waitFor();
  await page.keyboard.press("Control+k");
  await page.keyboard.type("long list");
  await page.getByText("More have this in their name: write more of it.").waitFor();
  expect(await page.getByRole("dialog").getByRole("listitem").count()).toBe(20 + 1);
  // arrow keys lead from the field to the places, and back to it
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  const focused = () => page.evaluate("document.activeElement.textContent");
  expect(await focused()).toMatch(/^Long list \d+ key$/);
  for (const _ of [1, 2, 3]) await page.keyboard.press("ArrowUp");
  await page.keyboard.press("End");
  await page.keyboard.type(" 2");
  await expect.poll(() => page.getByRole("searchbox").inputValue(), SOON).toBe("long list 2");
  await page.getByRole("searchbox").fill("vat 2026 ostriches");
  await page.getByText("has this name").waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Requests", exact: true }).waitFor();
  await page.getByRole("link", { name: "Do ostriches pay VAT 2026?" }).waitFor();
  await expect.poll(() => page.getByRole("row").count(), SOON).toBe(2);
  await inspect(page, "requests-by-words");
  await page.getByLabel("Words of the question").fill("penguins");
  await page.getByRole("heading", { name: "No request matches" }).waitFor();
});

/** The name of a member who joined and left a moment ago, even at midnight. */
const FORMER = /^former builder, (only on \d+ \w+ \d{4}|\d+ \w+ \d{4} to \d+ \w+ \d{4}) \(\w{8}\)$/;

test("a former member's requests are erased from the list of requests", async () => {
  const { id, email, password } = await tenant.made(
    tenant.owner("POST", "/members", { email: "left@example.org", name: "Lee Left", role: "builder" }),
  );
  const { call } = await signIn(tenant.url, { email, password });
  await tenant.made(call("POST", "/openai/v1/chat/completions", say("Secret")));
  const page = await open(`members/${id}`);
  agreeToAll(page);
  await page.getByRole("link", { name: "an erasure" }).waitFor();
  await inspect(page, "member-with-links");
  await page.getByRole("button", { name: "Remove" }).click();
  await page.getByRole("heading", { name: "Members" }).waitFor();
  await page.getByRole("link", { name: "Requests" }).click();
  await page.getByRole("link", { name: FORMER }).first().click();
  await page.getByText("Asked by former builder").waitFor();
  await inspect(page, "requests-of-former-member");
  await page.getByRole("link", { name: "an erasure" }).click();
  await expect.poll(() => page.getByLabel("Which one").inputValue(), SOON).toBe(id);
  await page.getByLabel(/to confirm/).fill("erase");
  await page.getByRole("button", { name: "Erase for good" }).click();
  await page.getByText("1 conversation, 0 files").first().waitFor();
});

test("one click shows runs that failed at the same step, and people are shown by name", async () => {
  const source = workflowSource(
    "await ctx.runStep(args.step);",
    "keep: () => { throw new Error('full') }, send: () => { throw new Error('no') }",
  );
  const workflow = await tenant.register(source, {}, { name: "Import" });
  await Promise.all(
    ["keep", "keep", "send"].map(async (step) => tenant.untilOver(await tenant.start(workflow, { step }))),
  );
  const page = await open("runs?status=failed");
  await page.getByRole("link", { name: "keep", exact: true }).first().click();
  await page.getByText("2 runs").waitFor();
  expect(await page.getByLabel("Error or step").inputValue()).toBe("keep");
  await inspect(page, "runs-failed-at-step");
  await page.locator("[data-row]").first().click();
  await page.getByText("The step keep failed").waitFor();
  const { name } = (await tenant.made(tenant.owner("GET", "/auth/me"))).user;
  await page.getByRole("main").getByRole("link", { name }).waitFor();
  await inspect(page, "run-started-by-name");
});

test("a search endpoint is added and changed among the providers", async () => {
  const page = await open("settings?section=providers");
  await page.getByLabel("Name").fill("embeddings");
  await page.getByLabel("API key").fill("sk-embeddings");
  await page.getByLabel("Address of its API").fill("https://vectors.example/v1");
  await page.getByLabel("Model", { exact: true }).fill("small");
  await page.getByLabel("Numbers of a vector").fill("8");
  await inspect(page, "provider-embeddings");
  await page.getByRole("button", { name: "Add provider" }).click();
  await page.getByRole("link", { name: "embeddings" }).click();
  await expect.poll(() => page.getByLabel("Numbers of a vector").inputValue(), SOON).toBe("8");
  expect(await tenant.made(tenant.owner("GET", "/providers/embeddings"))).toMatchObject({
    model: "small",
    dimensions: 8,
  });
});

test("one click shows yesterday's usage, and from there any other day", async () => {
  const page = await open("usage?by=key");
  await page.getByRole("link", { name: "Yesterday" }).click();
  const day = await page.getByLabel("From (UTC)").inputValue();
  expect([day, await page.getByLabel("To (UTC)").inputValue()]).toEqual([day, day]);
  expect(Date.parse(day)).toBeLessThan(Date.now() - 24 * 3_600_000 + 1);
  await inspect(page, "usage-yesterday");
});

test("the page of a run with 40,000 steps renders at most a few hundred rows at any scroll position", async () => {
  const run = await tenant.start(await tenant.register(workflowSource('await ctx.runStep("one");', "one: () => 1")));
  const record = await tenant.untilOver(run);
  const asked: number[] = [];
  const page = await open("");
  await page.route(`**/api/workflows/runs/${run}?*`, (route) =>
    route.fulfill({ json: { ...record, steps: [], counts: { ...record.counts, steps: 40_000 } } }),
  );
  await page.route(`**/api/workflows/runs/${run}/steps?*`, (route) => {
    const query = new URL(route.request().url()).searchParams;
    const [offset, limit] = [Number(query.get("offset")), Number(query.get("limit"))];
    if (limit > 1) asked.push(offset);
    const data = Array.from({ length: limit }, (_, n) => ({
      ...record.steps[0],
      id: `step-${offset + n}`,
      index: offset + n,
    }));
    return route.fulfill({ json: { data, total: 40_000, limit, offset } });
  });
  await page.goto(`${tenant.url}/console/runs/${run}`);
  await page.getByRole("link", { name: "one #0" }).waitFor();
  const rows = page.locator("li.step");
  for (const part of [0.2, 0.5, 0.9, 1]) {
    await page.evaluate(`window.scrollTo(0, document.documentElement.scrollHeight * ${part})`);
    await expect.poll(() => rows.count(), SOON).toBeGreaterThan(0);
    expect(await rows.count()).toBeLessThanOrEqual(400);
  }
  // pages near the window, not all 400 of them
  expect(new Set(asked).size).toBeLessThan(60);
  const place = () => page.evaluate("scrollY");
  const before = await place();
  await page.getByRole("link", { name: "one #39990" }).click();
  await page.getByText("idempotency key").waitFor();
  expect(await place()).toBe(before);
});
