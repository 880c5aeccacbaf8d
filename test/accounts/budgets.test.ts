import { beforeAll, describe, expect, test, vi } from "vitest";
import { expectRefusal } from "../hostile/target.ts";
import { clientOf, say } from "../http/service.ts";
import { openTenant, workflowSource } from "../workflows/tenant.ts";
import { readAllEvents } from "./audit.ts";
import { openPeople, type People } from "./people.ts";

/* Budgets: what they count, what they refuse, and that the figure that refuses is the one that is shown (docs/spending.md). */

let people: People;
beforeAll(async () => {
  people = await openPeople();
});

const soon = { timeout: 30_000, interval: 200 };
const UNKNOWN = "key:0198c0de-0000-7000-8000-00000000000f";

/** An organization of its own, with a price of one dollar per request. */
async function newTenant() {
  const credentials = await people.service.organization("Spenders");
  const owner = await people.signIn(credentials);
  await owner("PUT", "/prices/offline/echo", { prices: [{ input: "0", output: "0", per_call: "1" }] });
  const key = async (more: object = {}) => {
    const made = (await owner("POST", "/keys", { name: "K", ...more })).body;
    return { id: made.id as string, call: clientOf(people.service, made.key) };
  };
  const set = (subject: string, body: object) => owner("PUT", `/budgets/${subject}`, body);
  const spent = async (subject: string) => (await owner("GET", `/budgets/${subject}`)).body.limits[0].spent;
  const workflows = () => openTenant(people.service.base, credentials);
  return { owner, key, set, spent, workflows, first: clientOf(people.service, credentials.api_key) };
}
type Call = ReturnType<typeof clientOf>;
const ask = (call: Call, more: object = {}) => call("POST", "/chat/completions", say("Hi", { ...more }));
/** Asks until a budget refuses; gives the refusal and how many turns were answered before. */
async function askUntilRefused(call: Call) {
  for (let answered = 0; ; answered++) {
    const answer = await ask(call);
    if (answer.status !== 200) return { answer, answered };
    if (answered > 2_000) throw new Error("no budget refuses");
  }
}

describe("a budget", () => {
  test("is set, shown, listed, replaced and removed", async () => {
    const { owner, set } = await newTenant();
    const made = await set("organization", { cost_per_month: "10", tokens_per_day: 1_000, hard: false });
    expect(made.body).toMatchObject({
      subject: "organization",
      hard: false,
      limits: [
        { name: "tokens_per_day", limit: "1000", spent: "0", percent: 0 },
        { name: "cost_per_month", limit: "10", spent: "0", percent: 0 },
      ],
    });
    expect((await owner("GET", "/budgets")).body).toMatchObject({ total: 1, data: [made.body] });
    expect((await set("organization", { cost_per_day: "0.5" })).body).toMatchObject({
      hard: true,
      limits: [{ name: "cost_per_day", limit: "0.5" }],
    });
    expect((await owner("DELETE", "/budgets/organization")).status).toBe(204);
    expectRefusal(await owner("GET", "/budgets/organization"), 404, "budget_not_found", "subject");
    expectRefusal(await owner("DELETE", "/budgets/organization"), 404, "budget_not_found", "subject");
  });

  test.each([
    [{ cost_per_day: 1 }, "cost_per_day"],
    [{ cost_per_day: "-1" }, "cost_per_day"],
    [{ cost_per_month: "1.1234567" }, "cost_per_month"],
    [{ tokens_per_day: "many" }, "tokens_per_day"],
    [{ tokens_per_month: -1 }, "tokens_per_month"],
    [{ cost_per_year: "1" }, "cost_per_year"],
    [{ tokens_per_day: 1, hard: "yes" }, "hard"],
    [{}, "cost_per_month"],
  ])("is refused as %o", async (body, param) =>
    expectRefusal(await people.owner("PUT", "/budgets/organization", body), 400, undefined, param),
  );

  test.each(["everybody", "key:1", "team:0198c0de-0000-7000-8000-00000000000f"])("has no subject %s", async (subject) =>
    expectRefusal(
      await people.owner("PUT", `/budgets/${subject}`, { cost_per_day: "1" }),
      400,
      "invalid_subject",
      "subject",
    ),
  );

  test("of another organization is neither seen nor changed, and refuses nobody else", async () => {
    const [ours, theirs] = [await newTenant(), await newTenant()];
    await ours.set("organization", { tokens_per_day: 0 });
    expectRefusal(await theirs.owner("GET", "/budgets/organization"), 404, "budget_not_found", "subject");
    expectRefusal(await theirs.owner("DELETE", "/budgets/organization"), 404, "budget_not_found", "subject");
    expect((await theirs.owner("GET", "/budgets")).body.data).toEqual([]);
    expect((await ask(theirs.first)).status).toBe(200);
    expect((await ask(ours.first)).status).toBe(402);
  });
});

describe("a turn", () => {
  test("is refused at the limit with the figure that is shown, until the limit is raised", async () => {
    const { first, set, spent, owner } = await newTenant();
    await set("organization", { cost_per_month: "3" });
    const { answer, answered } = await askUntilRefused(first);
    expect(answered).toBeGreaterThanOrEqual(3);
    expectRefusal(answer, 402, "budget_exceeded");
    expect(answer.body.error.type).toBe("billing_error");
    const shown = await spent("organization");
    expect(shown).toBe(String(answered));
    await vi.waitFor(async () => {
      const { message } = (await ask(first)).body.error;
      expect(message).toContain(`The budget organization has used ${shown} of 3 US dollars (cost_per_month)`);
    }, soon);
    const seconds = Number(answer.headers.get("retry-after"));
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(31 * 24 * 3600);
    expect(answer.headers.get("x-should-retry")).toBe("false");
    expect((await owner("GET", "/usage")).body.totals).toMatchObject({ turns: answered, cost: shown });
    await set("organization", { cost_per_month: "300" });
    expect((await ask(first)).status).toBe(200);
  });

  test("of a stream, of an agent and of a workflow is refused, too", async () => {
    const { first, set, owner, workflows } = await newTenant();
    const agent = (await owner("POST", "/agents", { name: "Helper", model: "offline/echo" })).body.id;
    await set("organization", { cost_per_day: "0" });
    expectRefusal(await ask(first, { stream: true }), 402, "budget_exceeded");
    expectRefusal(await owner("POST", `/agents/${agent}/v1/responses`, { input: "Hi" }), 402, "budget_exceeded");
    const asks = `ask: defineStep({ retries: 0 }, (_, ctx) => ctx.chat({ model: "offline/echo", messages: [{ role: "user", content: "Hi" }] }))`;
    const source = `import { defineStep } from "svc:workflow";\n${workflowSource(`return ctx.runStep("ask", {});`, asks)}`;
    const ended = await (await workflows()).run(source, {}, { models: ["offline/echo"] });
    expect(ended.status).toBe("failed");
    expect(JSON.stringify(ended)).toContain("The budget organization has used 0 of 0 US dollars (cost_per_day)");
  });

  test("counts for its key, its project, its agent and its person, and for nobody else", async () => {
    const { owner, key, set } = await newTenant();
    const project_id = (await owner("POST", "/projects", { name: "P" })).body.id;
    const agent = (await owner("POST", "/agents", { name: "Helper", model: "offline/echo" })).body.id;
    const me = (await owner("GET", "/auth/me")).body.user.id;
    const [alone, member] = [await key(), await key({ project_id })];
    const subjects = [`key:${alone.id}`, `project:${project_id}`, `agent:${agent}`, `person:${me}`, UNKNOWN];
    for (const subject of subjects) await set(subject, { cost_per_day: "100" });
    await ask(alone.call);
    for (const _ of [1, 2]) await ask(member.call);
    for (const _ of [1, 2, 3]) await owner("POST", `/agents/${agent}/v1/responses`, { input: "Hi" });
    const { data } = (await owner("GET", "/budgets")).body;
    expect(data.map(({ subject, limits }: any) => [subject, limits[0].spent])).toEqual(
      subjects.map((subject, n) => [subject, ["1", "2", "3", "3", "0"][n]]),
    );
    await set(`key:${alone.id}`, { cost_per_day: "1" });
    expect((await ask(alone.call)).status).toBe(402);
    expect((await ask(member.call)).status).toBe(200);
  });

  test("that names an alias counts with the cost of the model that answered", async () => {
    const { first, owner, set, spent } = await newTenant();
    await owner("PUT", "/aliases/cheap", { targets: [{ model: "offline/echo" }] });
    await set("organization", { cost_per_day: "1" });
    expect((await ask(first, { model: "cheap" })).body.usage.cost).toBe("1");
    expect(await spent("organization")).toBe("1");
    await vi.waitFor(async () => expectRefusal(await ask(first, { model: "cheap" }), 402, "budget_exceeded"), soon);
    expect(await spent("organization")).toBe((await owner("GET", "/usage")).body.totals.cost);
  });

  test("is answered with a warning from 80 % on, and the log has one event for 80 % and one for 100 %", async () => {
    const { first, set, owner } = await newTenant();
    await set("organization", { cost_per_month: "5", hard: false });
    expect((await ask(first)).headers.get("x-budget-warning")).toBeNull();
    for (const _ of [2, 3, 4]) await ask(first);
    await vi.waitFor(async () => {
      const answer = await ask(first);
      expect(answer.status).toBe(200);
      expect(answer.headers.get("x-budget-warning")).toMatch(/^organization; cost_per_month; \d+ of 5$/);
    }, soon);
    await vi.waitFor(async () => {
      await ask(first);
      const told = (await readAllEvents(owner)).filter(({ type }) => type === "BudgetReached");
      expect(told.at(-1)?.data).toMatchObject({ subject: "organization", limit: "cost_per_month", percent: 100 });
      expect(told.length).toBeLessThanOrEqual(2);
    }, soon);
  });

  test("that repeats an earlier request gets its answer, although the budget is used up since", async () => {
    const { first, set } = await newTenant();
    const headers = { "idempotency-key": "once" };
    const answer = await first("POST", "/chat/completions", say("Once"), headers);
    await set("organization", { cost_per_day: "0" });
    expect((await ask(first)).status).toBe(402);
    expect((await first("POST", "/chat/completions", say("Once"), headers)).body.id).toBe(answer.body.id);
  });
});
