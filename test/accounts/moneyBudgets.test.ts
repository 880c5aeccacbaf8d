import { describe, expect, test } from "vitest";
import { expectRefusal } from "../hostile/target.ts";
import { say } from "../http/service.ts";
import { openTenant, workflowSource } from "../workflows/tenant.ts";
import { readAllEvents } from "./audit.ts";
import { openPeople } from "./people.ts";
import { ask, openSpender, SCRIPTED } from "./spender.ts";

/* Budgets of money hold what turns may cost until they end (docs/spending.md, ADR 55). */

const people = await openPeople();

/** A spender with one budget, that of the organization. */
async function openOrganization() {
  const spender = await openSpender(people);
  const { first } = spender;
  return {
    ...spender,
    set: (body: object) => spender.set("organization", body),
    ask: (more: Record<string, unknown> = {}) => ask(first, more),
    askSlowly: (seconds: number, more: Record<string, unknown> = {}) =>
      first("POST", "/chat/completions", { ...say(`/slow ${seconds}\nHi`, more), model: SCRIPTED }),
  };
}

describe("a hard budget of money", () => {
  test("is spent to the last dollar by a burst of turns, but not exceeded", async () => {
    const { set, limit, ask, owner } = await openOrganization();
    await set({ cost_per_day: "7" });
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, n) => ask({ user: `u${n}`, stream: n % 2 === 1 })),
    );
    const answered = answers.filter(({ status }) => status === 200).length;
    const codes = answers.filter(({ status }) => status !== 200).map(({ body }) => body.error.code);
    expect(answered).toBe(7);
    expect(codes.filter((code) => code !== "budget_reserved" && code !== "budget_exceeded")).toEqual([]);
    expect(await limit()).toMatchObject({ limit: "7", spent: "7", reserved: "0", percent: 100 });
    expect((await owner("GET", "/usage")).body.totals.cost).toBe("7");
    expectRefusal(await ask(), 402, "budget_exceeded");
  });

  test("reserves the maximum cost of a running turn, shows the reservation, and releases it", async () => {
    const { set, limit, ask, askSlowly, owner } = await openOrganization();
    await set({ cost_per_day: "1" });
    const slow = askSlowly(3);
    await expect.poll(async () => (await limit()).reserved).toBe("1");
    expect(await limit()).toMatchObject({ spent: "0" });
    const refused = await ask();
    expectRefusal(refused, 429, "budget_reserved");
    expect(refused.body.error.message).toContain(
      "The budget organization has used 0 of 1 US dollars (cost_per_day), and 1 are reserved for turns under way",
    );
    expect(refused.headers.get("x-should-retry")).toBe("true");
    expect((await slow).status).toBe(200);
    expectRefusal(await ask(), 402, "budget_exceeded");
    expect(await limit()).toMatchObject({ spent: "1", reserved: "0" });
    const started = (await readAllEvents(owner)).find(({ type }) => type === "TurnStarted");
    expect(started?.data).toMatchObject({ reserved: "1" });
  });

  test("lets a turn start alone if its maximum cost exceeds the rest, but no other turn beside it", async () => {
    const { set, ask, askSlowly, limit } = await openOrganization();
    await set({ cost_per_day: "0.5" });
    const slow = askSlowly(2);
    await expect.poll(async () => (await limit()).reserved).toBe("1");
    expectRefusal(await ask(), 429, "budget_reserved");
    expect((await slow).status).toBe(200);
    expect(await limit()).toMatchObject({ spent: "1", percent: 200 });
    expectRefusal(await ask(), 402, "budget_exceeded");
  });

  test("releases the reservation of a turn that was refused or whose client disconnected", async () => {
    const { set, ask, limit, credentials } = await openOrganization();
    await set({ cost_per_day: "10" });
    expect((await ask({ model: "offline/unknown" })).status).toBe(400);
    const left = new AbortController();
    const asked = fetch(`${people.service.chat}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${credentials.api_key}`, "content-type": "application/json" },
      body: JSON.stringify({ ...say("/slow 3\nHi"), model: SCRIPTED }),
      signal: left.signal,
    }).catch(() => {});
    await expect.poll(async () => (await limit()).reserved).toBe("1");
    left.abort();
    await asked;
    await expect.poll(async () => (await limit()).reserved, { timeout: 20_000 }).toBe("0");
  });

  test("reserves the tokens of the prompt and of the longest answer at the model's price", async () => {
    const { set, limit, askSlowly, owner } = await openOrganization();
    await owner("PUT", "/prices/offline/scripted", {
      prices: [{ input: "100000", output: "1", cache_write: "200000" }],
    });
    await set({ cost_per_day: "1000" });
    const slow = askSlowly(2, { max_tokens: 1_000_000 });
    const bytes = Buffer.byteLength("/slow 2\nHi") + "[null,".length;
    await expect.poll(async () => Number((await limit()).reserved)).toBeGreaterThanOrEqual(0.2 * bytes + 1);
    expect(Number((await limit()).reserved)).toBeLessThan(20);
    await slow;
    expect(Number((await limit()).reserved)).toBe(0);
  });

  test("makes a step of a workflow wait for running turns, and counts each-user separately per user", async () => {
    const { set, askSlowly, limit, credentials } = await openOrganization();
    await set({ cost_per_day: "2" });
    const slow = askSlowly(2);
    const second = askSlowly(2);
    await expect.poll(async () => (await limit()).reserved).toBe("2");
    await set({ cost_per_day: "3" });
    const asks = `ask: defineStep({ retries: 0 }, (_, ctx) => ctx.chat({ model: "offline/echo", messages: [{ role: "user", content: "Hi" }] }))`;
    const source = `import { defineStep } from "svc:workflow";\n${workflowSource(`return ctx.runStep("ask", {});`, asks)}`;
    const run = await (await openTenant(people.service.base, credentials)).run(
      source,
      {},
      { models: ["offline/echo"] },
    );
    expect(run.status).toBe("completed");
    await Promise.all([slow, second]);
    expect(await limit()).toMatchObject({ spent: "3" });
  });
});

test("a soft budget of money shows reservations and refuses nothing", async () => {
  const { set, limit, ask, askSlowly } = await openOrganization();
  await set({ cost_per_day: "1", hard: false });
  const slow = askSlowly(2);
  await expect.poll(async () => (await limit()).reserved).toBe("1");
  expect((await ask()).status).toBe(200);
  expect((await slow).status).toBe(200);
  expect(await limit()).toMatchObject({ spent: "2", reserved: "0" });
});

describe("a turn that sends more than its own message", () => {
  /** A prompt token costs a tenth of a cent, and an answer token a millionth of that. */
  const set = async ({ owner }: Awaited<ReturnType<typeof openOrganization>>, limits: object, per_call = "0") => {
    await owner("PUT", "/prices/offline/scripted", { prices: [{ input: "1000", output: "0.001", per_call }] });
    await owner("PUT", "/budgets/organization", limits);
  };

  test("reserves the cost of its thread's history: many concurrent turns in long threads exceed the limit by at most one turn", async () => {
    const tenant = await openOrganization();
    const { first: call } = tenant;
    const ask = (words: string, headers: Record<string, string> = {}) =>
      call("POST", "/chat/completions", { ...say(words, { max_tokens: 20 }), model: SCRIPTED }, headers);
    await tenant.owner("PUT", "/prices/offline/scripted", { prices: [{ input: "0", output: "0" }] });
    const story = "a story goes on ".repeat(150);
    const begun = await Promise.all(Array.from({ length: 12 }, () => ask(story)));
    const threads = begun.map(({ headers }) => headers.get("x-thread-id")!);
    // an answer of at most a cent for the own words; with the history each turn holds about 2.5 dollars, and costs 0.6
    await set(tenant, { cost_total: "6" });
    const asked = Promise.all(threads.map((id) => ask("/slow 1\nGo on", { "x-thread-id": id })));
    await expect.poll(async () => Number((await tenant.limit()).reserved), { interval: 50 }).toBeGreaterThan(2.4);
    const answers = await asked;
    const codes = answers.map(({ status, body }) => (status === 200 ? "answered" : body.error.code));
    const [first] = answers.filter(({ status }) => status === 200);
    const each = Number(first!.body.usage.cost);
    expect(each).toBeGreaterThan(0.3);
    expect(codes.filter((code) => code !== "answered" && code !== "budget_reserved")).toEqual([]);
    expect(codes.filter((code) => code === "budget_reserved").length).toBeGreaterThan(0);
    await expect.poll(async () => (await tenant.limit()).reserved).toBe("0");
    expect(Number((await tenant.limit()).spent)).toBeLessThan(6);
    // a refused turn leaves no trace, so its thread can continue
    expect((await ask("Go on", { "x-thread-id": threads[codes.indexOf("budget_reserved")]! })).status).toBe(200);
  });

  test("ends between two rounds with tools once the limit is used up, and exceeds it by at most one request", async () => {
    const tenant = await openOrganization();
    await set(tenant, { cost_total: "3" }, "1");
    const { first: call } = tenant;
    const words = "/tool web_fetch {}\n/rounds 9\nDone";
    const options = { max_tokens: 20, tools: [{ type: "function", function: { name: "web_fetch" } }] };
    const answer = await call("POST", "/chat/completions", { ...say(words, options), model: SCRIPTED });
    expectRefusal(answer, 402, "budget_exceeded");
    expect(answer.body.error.message).toMatch(/^The budget organization has used 3\.\d+ of 3 US dollars/);
    const spent = Number((await tenant.limit()).spent);
    expect([spent > 3, spent < 4.5, (await tenant.limit()).reserved]).toEqual([true, true, "0"]);
    const failed = (await readAllEvents(tenant.owner)).find(({ type }) => type === "TurnFailed");
    expect(failed?.data).toMatchObject({ code: "budget_exceeded" });
  });
});
