import { describe, expect, test, vi } from "vitest";
import { expectRefusal } from "../hostile/target.ts";
import { openTenant, workflowSource } from "../workflows/tenant.ts";
import { readAllEvents } from "./audit.ts";
import { openPeople } from "./people.ts";
import { ask as askModel, ECHO, openSpender, SCRIPTED, type Call } from "./spender.ts";

/* Budgets of one model, of a week and of all time, and what callers see of them (docs/spending.md). */

const people = await openPeople();
const soon = { timeout: 30_000, interval: 200 };

const ask = (call: Call, model = ECHO, more: object = {}) => askModel(call, { model, ...more });

describe("a budget of one model", () => {
  test("refuses only turns that name the model, with the figure that the budget shows", async () => {
    const { set, get, key, owner } = await openSpender(people);
    const { id, call } = await key();
    const made = await set(`key:${id}`, { cost_per_day: "2" }, ECHO);
    expect(made.body).toMatchObject({
      subject: `key:${id}`,
      model: ECHO,
      limits: [{ name: "cost_per_day", left: "2" }],
    });
    for (const _ of [1, 2]) expect((await ask(call)).status).toBe(200);
    await vi.waitFor(async () => expectRefusal(await ask(call), 402, "budget_exceeded"), soon);
    const refused = await ask(call);
    expect(refused.body.error.message).toContain(`The budget key:${id} for ${ECHO} has used 2 of 2 US dollars`);
    expect((await ask(call, SCRIPTED)).status).toBe(200);
    expect((await get(`key:${id}`, ECHO)).body.limits).toMatchObject([{ spent: "2", left: "0", percent: 100 }]);
    expect((await owner("GET", "/usage?group_by=model")).body.totals.cost).toBe("3");
    const reached = async () => (await readAllEvents(owner)).filter(({ type }) => type === "BudgetReached");
    await expect
      .poll(async () => (await reached()).at(-1)?.data, soon)
      .toMatchObject({
        subject: `key:${id}@${ECHO}`,
        percent: 100,
      });
  });

  test("applies beside the budget of all models, and each is read, replaced and removed separately", async () => {
    const { set, get, owner, path, first } = await openSpender(people);
    await set("organization", { cost_per_day: "9" });
    await set("organization", { cost_per_day: "5", requests_per_minute: 4 }, ECHO);
    await ask(first);
    await ask(first, SCRIPTED);
    expect((await get("organization")).body).toMatchObject({ model: null, limits: [{ spent: "2", left: "7" }] });
    expect((await get("organization", ECHO)).body.limits).toMatchObject([
      { name: "requests_per_minute", spent: "1", left: "3" },
      { name: "cost_per_day", spent: "1", left: "4" },
    ]);
    await set("organization", { cost_per_day: "6" }, ECHO);
    expect((await owner("GET", "/budgets")).body.data).toMatchObject([
      { model: null, limits: [{ limit: "9" }] },
      { model: ECHO, limits: [{ limit: "6" }] },
    ]);
    expect((await owner("DELETE", path("organization", ECHO))).status).toBe(204);
    expectRefusal(await get("organization", ECHO), 404, "budget_not_found", "subject");
    expect((await get("organization")).status).toBe(200);
  });

  test("counts what earlier turns spent", async () => {
    const { set, get, first } = await openSpender(people);
    for (const model of [ECHO, ECHO, SCRIPTED]) await ask(first, model);
    await set("organization", { cost_per_month: "10", requests_per_day: 5, tokens_total: 1_000_000 }, ECHO);
    const { limits } = (await get("organization", ECHO)).body;
    expect(limits).toMatchObject([
      { name: "requests_per_day", spent: "2" },
      { name: "tokens_total", period: "total", ends_at: null },
      { name: "cost_per_month", spent: "2" },
    ]);
  });

  test("limits usage per minute, with OpenAI's headers for the limit that has least left", async () => {
    const { set, first } = await openSpender(people);
    await set("organization", { requests_per_minute: 10 });
    await set("organization", { requests_per_minute: 2 }, ECHO);
    const left = async (model: string) => (await ask(first, model)).headers.get("x-ratelimit-remaining-requests");
    expect([await left(ECHO), await left(SCRIPTED), await left(ECHO)]).toEqual(["1", "8", "0"]);
    const refused = await ask(first);
    expectRefusal(refused, 429, "rate_limited");
    expect(refused.body.error.message).toContain(`requests_per_minute of organization for ${ECHO} is reached: 2 of 2`);
    expect((await ask(first, SCRIPTED)).status).toBe(200);
  });

  test("of an alias counts turns that name the alias, whichever target answers", async () => {
    const { set, get, owner, first } = await openSpender(people);
    await owner("PUT", "/aliases/cheap", { targets: [{ model: ECHO }] });
    await set("organization", { cost_per_day: "1" }, "cheap");
    await set("organization", { cost_per_day: "1" }, ECHO);
    expect((await ask(first, "cheap")).status).toBe(200);
    await vi.waitFor(async () => expectRefusal(await ask(first, "cheap"), 402, "budget_exceeded"), soon);
    expect((await get("organization", ECHO)).body.limits).toMatchObject([{ spent: "0" }]);
    expect((await ask(first)).status).toBe(200);
  });

  test("of each-user counts each user with the model separately, and for agents and workflows the model that they use", async () => {
    const { set, get, owner, first, credentials } = await openSpender(people);
    await set("each-user", { cost_per_day: "1" }, ECHO);
    for (const user of ["ann", "ben"]) expect((await ask(first, ECHO, { user })).status).toBe(200);
    await vi.waitFor(async () => expectRefusal(await ask(first, ECHO, { user: "ann" }), 402, "budget_exceeded"), soon);
    expect((await ask(first, SCRIPTED, { user: "ann" })).status).toBe(200);
    expect((await get("each-user", ECHO)).body.limits).toMatchObject([{ spent: "1", left: "0" }]);
    const agent = (await owner("POST", "/agents", { name: "A", model: SCRIPTED })).body.id;
    await set(`agent:${agent}`, { cost_per_day: "0" }, SCRIPTED);
    await set("organization", { cost_per_day: "0" }, SCRIPTED);
    expectRefusal(await owner("POST", `/agents/${agent}/v1/responses`, { input: "Hi" }), 402, "budget_exceeded");
    const asks = `ask: defineStep({ retries: 0 }, (_, ctx) => ctx.chat({ model: "${SCRIPTED}", messages: [{ role: "user", content: "Hi" }] }))`;
    const source = `import { defineStep } from "svc:workflow";\n${workflowSource(`return ctx.runStep("ask", {});`, asks)}`;
    const ended = await (await openTenant(people.service.base, credentials)).run(source, {}, { models: [SCRIPTED] });
    expect(JSON.stringify(ended)).toContain(`The budget organization for ${SCRIPTED} has used`);
  });

  test.each([
    [{ documents: 1 }, "documents"],
    [{ stored_bytes: 1 }, "stored_bytes"],
    [{ pages_per_day: 1 }, "pages_per_day"],
    [{ concurrent_runs: 1 }, "concurrent_runs"],
  ])("is refused as %o, because no turn would count for it", async (body, param) => {
    const { set } = await openSpender(people);
    expectRefusal(await set("organization", body, ECHO), 400, undefined, param);
  });

  test("of a misspelt model is refused with similar names, or gets a warning if no model list can tell", async () => {
    const { set, get, owner } = await openSpender(people);
    const refused = await set("organization", { cost_per_day: "1" }, "offline/ecko");
    expectRefusal(refused, 404, "model_not_found", "model");
    expect(refused.body.error.message).toContain("Similar names: offline/echo.");
    await owner("PUT", "/providers/silent", { api_key: "k", base_url: "https://models.invalid/v1", models: ["large"] });
    const warned = await set("organization", { cost_per_day: "1" }, "silent/larg");
    expect(warned.status).toBe(200);
    expect(warned.body.warning).toContain(
      "silent/larg could not be checked. If there is no such model, this budget counts nothing. Similar names: silent/large.",
    );
    expect((await get("organization", "silent/larg")).body).not.toHaveProperty("warning");
    expect((await set("organization", { cost_per_day: "1" }, "silent/large")).body).not.toHaveProperty("warning");
  });

  test("of an invalid model is refused, and so is a model in the subject", async () => {
    const { set } = await openSpender(people);
    expectRefusal(await set("organization", { cost_per_day: "1" }, "offline/none"), 404, "model_not_found", "model");
    expectRefusal(await set("organization", { cost_per_day: "1" }, "no-alias"), 404, "model_not_found", "model");
    for (const model of ["", "a b", "ü", "x".repeat(201)])
      expectRefusal(await set("organization", { cost_per_day: "1" }, model), 400, undefined, "model");
    expectRefusal(
      await set(`organization@${ECHO.replace("/", "%2F")}`, { cost_per_day: "1" }),
      400,
      "invalid_subject",
      "subject",
    );
  });
});

test("weekly and total budgets refuse when used up, and only the weekly one resets", async () => {
  const { set, get, first } = await openSpender(people);
  await set("organization", { cost_per_week: "1" });
  expect((await ask(first)).status).toBe(200);
  await vi.waitFor(async () => expectRefusal(await ask(first), 402, "budget_exceeded"), soon);
  const ofWeek = await ask(first);
  expect(Number(ofWeek.headers.get("retry-after"))).toBeGreaterThan(0);
  expect((await get("organization")).body.limits).toMatchObject([
    { name: "cost_per_week", spent: "1", period: expect.stringMatching(/^\d{4}-W\d\d$/) },
  ]);
  await set("organization", { cost_total: "2" });
  expect((await ask(first)).status).toBe(200);
  await vi.waitFor(async () => expectRefusal(await ask(first), 402, "budget_exceeded"), soon);
  const ofAll = await ask(first);
  expect(ofAll.headers.get("retry-after")).toBeNull();
  expect(ofAll.body.error.message).toContain("has used 2 of 2 US dollars (cost_total). It does not begin again");
  expect((await get("organization")).body.limits).toMatchObject([{ spent: "2", period: "total", ends_at: null }]);
});

test("requests are refused for the rest of the day once the daily number has ended, with the figure that the budget shows", async () => {
  const { set, get, first } = await openSpender(people);
  await set("organization", { requests_per_day: 2 });
  let answered = 0;
  const isRefused = async () => {
    const answer = await ask(first);
    if (answer.status === 200) answered += 1;
    else expectRefusal(answer, 402, "budget_exceeded");
    return answer.status !== 200;
  };
  await expect.poll(isRefused, soon).toBe(true);
  expect(answered).toBeGreaterThanOrEqual(2);
  expect((await get("organization")).body.limits).toMatchObject([
    { name: "requests_per_day", spent: String(answered), left: "0" },
  ]);
});

describe("GET /api/limits", () => {
  test("contains the budgets that apply to the key, of all models and of each, with the rest, and nothing of others", async () => {
    const { set, key, owner } = await openSpender(people);
    const project = (await owner("POST", "/projects", { name: "P" })).body.id;
    const [own, other] = [await key({ project_id: project }), await key()];
    await set("organization", { cost_per_month: "10", requests_per_minute: 5 });
    await set(`key:${own.id}`, { cost_total: "3" }, ECHO);
    await set(`project:${project}`, { tokens_per_week: 1_000_000 });
    await set(`key:${other.id}`, { cost_per_day: "1" });
    await set("each-user", { cost_per_day: "4" });
    await ask(own.call, ECHO, { user: "ann" });
    const limits = async (query = "") => {
      const answer = await own.api("GET", `/limits${query}`);
      expect(answer.status, answer.text).toBe(200);
      return answer.body.data;
    };
    await expect
      .poll(() => limits(), soon)
      .toMatchObject([
        {
          subject: "organization",
          model: null,
          limits: [
            { name: "requests_per_minute", left: "4" },
            { name: "cost_per_month", spent: "1", left: "9" },
          ],
        },
        { subject: `key:${own.id}`, model: ECHO, limits: [{ name: "cost_total", limit: "3", left: "2" }] },
        { subject: `project:${project}`, limits: [{ name: "tokens_per_week" }] },
      ]);
    expect((await limits("?user=ann")).at(-1)).toMatchObject({
      subject: "each-user",
      limits: [{ spent: "1", left: "3" }],
    });
    expect((await limits("?user=ben")).at(-1)).toMatchObject({
      subject: "each-user",
      limits: [{ spent: "0", left: "4" }],
    });
    expect((await other.api("GET", "/limits?limit=1")).body).toMatchObject({ total: 2, limit: 1 });
  });

  test("shows a person their own limits, and is empty without budgets", async () => {
    const { set, owner } = await openSpender(people);
    expect((await owner("GET", "/limits")).body.data).toEqual([]);
    const me = (await owner("GET", "/auth/me")).body.user.id;
    await set(`person:${me}`, { tokens_per_day: 7 });
    const { data } = (await owner("GET", "/limits")).body;
    expect(data).toMatchObject([{ subject: `person:${me}`, limits: [{ limit: "7", spent: "0", left: "7" }] }]);
    expect(data[0]).not.toHaveProperty("created_at");
  });
});
