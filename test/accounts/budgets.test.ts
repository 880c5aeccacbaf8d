import { describe, expect, test, vi } from "vitest";
import { expectRefusal } from "../hostile/target.ts";
import { say } from "../http/service.ts";
import { openTenant, workflowSource } from "../workflows/tenant.ts";
import { readAllEvents } from "./audit.ts";
import { openPeople } from "./people.ts";
import { ask, openSpender, type Call, type Spender } from "./spender.ts";

/* Budgets and rate limits: what they count and refuse. A refusal names the same figure that the budget shows (docs/spending.md). */

const people = await openPeople();

const soon = { timeout: 30_000, interval: 200 };
const NOBODY = "0198c0de-0000-7000-8000-00000000000f";

const openWorkflows = ({ credentials }: Spender) => openTenant(people.service.base, credentials);
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
    const { owner, set } = await openSpender(people);
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
    [{ requests_per_minute: 1.5 }, "requests_per_minute"],
    [{ tokens_per_minute: "1" }, "tokens_per_minute"],
    [{ concurrent_turns: -1 }, "concurrent_turns"],
    [{ cost_per_year: "1" }, "cost_per_year"],
    [{ tokens_per_day: 1, hard: "yes" }, "hard"],
    [{}, "cost_per_month"],
  ])("is refused as %j", async (body, param) =>
    expectRefusal(await people.owner("PUT", "/budgets/organization", body), 400, undefined, param),
  );

  test.each(["everybody", "key:1", "team:0198c0de-0000-7000-8000-00000000000f", `USER:${"Zoe-".repeat(10)}Zoe`])(
    "has no subject %s",
    async (subject) =>
      expectRefusal(
        await people.owner("PUT", `/budgets/${subject}`, { cost_per_day: "1" }),
        400,
        "invalid_subject",
        "subject",
      ),
  );

  test.each([
    ["key", "key_not_found"],
    ["project", "project_not_found"],
    ["person", "member_not_found"],
    ["agent", "agent_not_found"],
  ])("of an unknown %s is refused, and one of another organization is unknown", async (kind, errorCode) => {
    const [ours, theirs] = [await openSpender(people), await openSpender(people)];
    const made = {
      key: async () => (await theirs.key()).id,
      project: async () => (await theirs.owner("POST", "/projects", { name: "P" })).body.id,
      person: async () => (await theirs.owner("GET", "/auth/me")).body.user.id,
      agent: async () => (await theirs.owner("POST", "/agents", { name: "A", model: "offline/echo" })).body.id,
    }[kind]!;
    const id = await made();
    expect((await theirs.set(`${kind}:${id}`, { cost_per_day: "1" })).status).toBe(200);
    for (const unknown of [id, NOBODY]) {
      const refused = await ours.set(`${kind}:${unknown}`, { cost_per_day: "1", requests_per_minute: 1 });
      expectRefusal(refused, 404, errorCode, "subject");
      expect(refused.body.error.message).toContain(unknown);
    }
    expect((await ours.owner("GET", "/budgets")).body.data).toEqual([]);
  });

  test("of a deleted key can be read and removed, but not set again", async () => {
    const { owner, key, set } = await openSpender(people);
    const { id } = await key();
    await set(`key:${id}`, { cost_per_day: "1" });
    expect((await owner("DELETE", `/keys/${id}`)).status).toBe(204);
    expectRefusal(await set(`key:${id}`, { cost_per_day: "2" }), 404, "key_not_found", "subject");
    expect((await owner("GET", `/budgets/key:${id}`)).body.limits).toMatchObject([{ limit: "1" }]);
    expect((await owner("DELETE", `/budgets/key:${id}`)).status).toBe(204);
  });

  test("of another organization is hidden, cannot be changed, and limits nobody else", async () => {
    const [ours, theirs] = [await openSpender(people), await openSpender(people)];
    await ours.set("organization", { tokens_per_day: 0 });
    expectRefusal(await theirs.owner("GET", "/budgets/organization"), 404, "budget_not_found", "subject");
    expectRefusal(await theirs.owner("DELETE", "/budgets/organization"), 404, "budget_not_found", "subject");
    expect((await theirs.owner("GET", "/budgets")).body.data).toEqual([]);
    expect((await ask(theirs.first)).status).toBe(200);
    expect((await ask(ours.first)).status).toBe(402);
  });
});

describe("a turn", () => {
  test("is refused at the limit, with the same figure as the budget shows, until the limit is raised", async () => {
    const { first, set, limit, owner } = await openSpender(people);
    await set("organization", { cost_per_month: "3" });
    const { answer, answered } = await askUntilRefused(first);
    expect(answered).toBeGreaterThanOrEqual(3);
    expectRefusal(answer, 402, "budget_exceeded");
    expect(answer.body.error.type).toBe("billing_error");
    const shown = (await limit("organization")).spent;
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

  test("of a stream, an agent or a workflow is refused, too", async () => {
    const spender = await openSpender(people);
    const { first, set, owner } = spender;
    const agent = (await owner("POST", "/agents", { name: "Helper", model: "offline/echo" })).body.id;
    await set("organization", { cost_per_day: "0" });
    expectRefusal(await ask(first, { stream: true }), 402, "budget_exceeded");
    expectRefusal(await owner("POST", `/agents/${agent}/v1/responses`, { input: "Hi" }), 402, "budget_exceeded");
    const asks = `ask: defineStep({ retries: 0 }, (_, ctx) => ctx.chat({ model: "offline/echo", messages: [{ role: "user", content: "Hi" }] }))`;
    const source = `import { defineStep } from "svc:workflow";\n${workflowSource(`return ctx.runStep("ask", {});`, asks)}`;
    const ended = await (await openWorkflows(spender)).run(source, {}, { models: ["offline/echo"] });
    expect(ended.status).toBe("failed");
    expect(JSON.stringify(ended)).toContain("The budget organization has used 0 of 0 US dollars (cost_per_day)");
  });

  test("counts for its key, project, agent and person, and for nobody else", async () => {
    const { owner, key, set } = await openSpender(people);
    const project_id = (await owner("POST", "/projects", { name: "P" })).body.id;
    const agent = (await owner("POST", "/agents", { name: "Helper", model: "offline/echo" })).body.id;
    const me = (await owner("GET", "/auth/me")).body.user.id;
    const [alone, member, unused] = [await key(), await key({ project_id }), await key()];
    const subjects = [`key:${alone.id}`, `project:${project_id}`, `agent:${agent}`, `person:${me}`, `key:${unused.id}`];
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

  test("that uses an alias counts with the cost of the model that answered", async () => {
    const { first, owner, set, limit } = await openSpender(people);
    await owner("PUT", "/aliases/cheap", { targets: [{ model: "offline/echo" }] });
    await set("organization", { cost_per_day: "1" });
    expect((await ask(first, { model: "cheap" })).body.usage.cost).toBe("1");
    expect((await limit("organization")).spent).toBe("1");
    await vi.waitFor(async () => expectRefusal(await ask(first, { model: "cheap" }), 402, "budget_exceeded"), soon);
    expect((await limit("organization")).spent).toBe((await owner("GET", "/usage")).body.totals.cost);
  });

  test("returns a warning from 80 % on, and the log records one event each for 80 % and 100 %", async () => {
    const { first, set, owner } = await openSpender(people);
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
      const reached = (await readAllEvents(owner)).filter(({ type }) => type === "BudgetReached");
      expect(reached.at(-1)?.data).toMatchObject({ subject: "organization", limit: "cost_per_month", percent: 100 });
      expect(reached.length).toBeLessThanOrEqual(2);
    }, soon);
  });

  test("is reported at 80 % even if no other turn follows and nobody reads the budget", async () => {
    const { first, set, owner } = await openSpender(people);
    await set("organization", { requests_per_day: 10 });
    for (let n = 0; n < 8; n++) expect((await ask(first)).status).toBe(200);
    await vi.waitFor(async () => {
      const reached = (await readAllEvents(owner)).filter(({ type }) => type === "BudgetReached");
      expect(reached.map(({ data }) => data)).toMatchObject([{ limit: "requests_per_day", percent: 80, spent: "8" }]);
    }, soon);
  });

  test("that repeats an earlier request gets its answer, even if the budget has been used up since", async () => {
    const { first, set } = await openSpender(people);
    const headers = { "idempotency-key": "once" };
    const answer = await first("POST", "/chat/completions", say("Once"), headers);
    await set("organization", { cost_per_day: "0" });
    expect((await ask(first)).status).toBe(402);
    expect((await first("POST", "/chat/completions", say("Once"), headers)).body.id).toBe(answer.body.id);
  });
});

describe("a limit per minute or of concurrent turns", () => {
  const limitOf = async (tenant: { owner: Call }, subject = "organization") =>
    (await tenant.owner("GET", `/budgets/${subject}`)).body.limits[0];

  test("refuses with 429, with OpenAI's headers and the figure that the budget shows", async () => {
    const tenant = await openSpender(people);
    const { first, set, owner } = tenant;
    const agent = (await owner("POST", "/agents", { name: "Helper", model: "offline/echo" })).body.id;
    expect((await set("organization", { requests_per_minute: 3 })).body.limits).toMatchObject([
      { name: "requests_per_minute", limit: "3", spent: "0", percent: 0, period: "minute" },
    ]);
    const answer = await ask(first);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "x-ratelimit-limit-requests": "3",
      "x-ratelimit-remaining-requests": "2",
      "x-ratelimit-reset-requests": expect.stringMatching(/^\d+s$/),
    });
    expect((await ask(first, { stream: true })).headers.get("x-ratelimit-remaining-requests")).toBe("1");
    const respond = () => owner("POST", `/agents/${agent}/v1/responses`, { input: "Hi" });
    expect((await respond()).headers.get("x-ratelimit-warning")).toBe("organization; requests_per_minute; 3 of 3");
    for (const refused of [await ask(first), await ask(first, { stream: true }), await respond()]) {
      expectRefusal(refused, 429, "rate_limited");
      expect(refused.body.error.type).toBe("rate_limit_error");
      expect(refused.body.error.message).toContain("requests_per_minute of organization is reached: 3 of 3");
      expect(refused.headers.get("x-ratelimit-remaining-requests")).toBe("0");
      expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
      expect(Number(refused.headers.get("retry-after"))).toBeLessThanOrEqual(60);
      expect(refused.headers.get("x-should-retry")).toBe("true");
    }
    expect(await limitOf(tenant)).toMatchObject({ limit: "3", spent: "3", percent: 100 });
    const reached = async () => (await readAllEvents(owner)).filter(({ type }) => type === "BudgetReached");
    await expect.poll(reached, soon).toHaveLength(1);
    expect((await reached())[0]!.data).toMatchObject({
      subject: "organization",
      limit: "requests_per_minute",
      period: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
      percent: 100,
      spent: "3",
      at_most: "3",
    });
    await set("organization", { requests_per_minute: 4 });
    expect((await ask(first)).status).toBe(200);
  });

  test("does not count requests that are refused before they begin, repetitions, or other organizations", async () => {
    const [tenant, other] = [await openSpender(people), await openSpender(people)];
    const { first, set } = tenant;
    await set("organization", { requests_per_minute: 2 });
    const headers = { "idempotency-key": "once" };
    const once = () => first("POST", "/chat/completions", say("Once"), headers);
    const { body } = await once();
    expect((await once()).body.id).toBe(body.id);
    expect((await ask(first, { model: "offline/unknown" })).status).toBe(400);
    const elsewhere = { "x-thread-id": "0198c0de-0000-7000-8000-00000000000f" };
    expect((await first("POST", "/chat/completions", say("Hi"), elsewhere)).status).toBe(404);
    expect(await limitOf(tenant)).toMatchObject({ spent: "1" });
    expect((await ask(first)).status).toBe(200);
    expectRefusal(await ask(first), 429, "rate_limited");
    expect((await once()).body.id).toBe(body.id);
    expect((await ask(other.first)).status).toBe(200);
  });

  test("of tokens counts the tokens that turns used", async () => {
    const tenant = await openSpender(people);
    await tenant.set("organization", { tokens_per_minute: 1_000_000 });
    const { usage } = (await ask(tenant.first)).body;
    expect((await limitOf(tenant)).spent).toBe(String(usage.total_tokens));
    await tenant.set("organization", { tokens_per_minute: usage.total_tokens });
    expectRefusal(await ask(tenant.first), 429, "rate_limited");
  });

  test("of concurrent turns is released when a turn ends, even if its client disconnected", async () => {
    const tenant = await openSpender(people);
    await tenant.set("organization", { concurrent_turns: 1 });
    for (const _ of [1, 2, 3]) expect((await ask(tenant.first)).status).toBe(200);
    const left = new AbortController();
    const slow = { model: "offline/scripted", messages: [{ role: "user", content: "/slow 4\nHi" }] };
    const asked = fetch(`${people.service.chat}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${tenant.credentials.api_key}`, "content-type": "application/json" },
      body: JSON.stringify(slow),
      signal: left.signal,
    }).catch(() => {});
    await expect.poll(async () => (await limitOf(tenant)).spent).toBe("1");
    expectRefusal(await ask(tenant.first), 429, "rate_limited");
    left.abort();
    await asked;
    await expect.poll(async () => (await ask(tenant.first)).status, { interval: 500 }).toBe(200);
  });

  test("of each-user counts each value of user separately, and names nobody", async () => {
    const tenant = await openSpender(people);
    const { first, set, owner } = tenant;
    await set("each-user", { requests_per_minute: 1, cost_per_day: "2" });
    const statuses = [];
    for (const user of ["ann", "ben", "ann", undefined, undefined])
      statuses.push((await ask(first, user === undefined ? {} : { user })).status);
    expect(statuses).toEqual([200, 200, 429, 200, 200]);
    expect((await limitOf(tenant, "each-user")).spent).toBe("1");
    await set("each-user", { cost_per_day: "1" });
    await vi.waitFor(async () => expectRefusal(await ask(first, { user: "ann" }), 402, "budget_exceeded"), soon);
    expect((await ask(first, { user: "cid" })).status).toBe(200);
    expect(await limitOf(tenant, "each-user")).toMatchObject({ limit: "1", spent: "1" });
    const lasting = (await readAllEvents(owner)).map(({ data }) => data);
    expect(JSON.stringify(lasting)).toContain('"user_mark"');
    expect(JSON.stringify(lasting)).not.toContain('"ann"');
  });

  test("of an external user can be set for a value as long as a signed token", async () => {
    const { set, owner } = await openSpender(people);
    const user = "token.".repeat(1_200);
    const made = await set(`user:${user}`, { requests_per_day: 5 });
    expect([made.status, made.body.subject]).toEqual([200, expect.stringMatching(/^user:[\w-]{43}$/)]);
    expect((await owner("GET", `/budgets/user:${user}`)).body).toMatchObject({ subject: made.body.subject });
    for (const path of ["limits", "turns"]) expect((await owner("GET", `/${path}?user=${user}`)).status).toBe(200);
    expect((await owner("DELETE", `/budgets/user:${user}`)).status).toBe(204);
  });

  test("of one external user applies to that user only, and neither the log nor the answers name the user", async () => {
    const tenant = await openSpender(people);
    const { first, set, owner, limit } = tenant;
    const [name, other] = ["Zoë Müller/1", "zoë müller/1"];
    const path = encodeURIComponent(`user:${name}`);
    const made = await set(path, { cost_per_day: "2", requests_per_minute: 3 });
    expect(made.status).toBe(200);
    const { subject } = made.body;
    expect(subject).toMatch(/^user:[\w-]{43}$/);
    expectRefusal(await set(path, { documents: 1 }), 400, undefined, "documents");
    expectRefusal(await set("user:", { cost_per_day: "1" }), 400, "invalid_subject", "subject");
    const statuses = async (user: string, times: number) => {
      const answers = [];
      for (let n = 0; n < times; n++) answers.push((await ask(first, { user })).status);
      return answers;
    };
    expect(await statuses(name, 2)).toEqual([200, 200]);
    expect(await statuses(other, 4)).toEqual([200, 200, 200, 200]);
    await vi.waitFor(async () => expectRefusal(await ask(first, { user: name }), 402, "budget_exceeded"), soon);
    const shown = (await owner("GET", `/budgets/${path}`)).body;
    expect(shown).toMatchObject({ subject });
    expect(shown.limits.find((limit: any) => limit.name === "cost_per_day").spent).toBe("2");
    expect((await set(subject, { cost_per_day: "9" })).body).toMatchObject({ subject });
    expect((await owner("GET", "/budgets")).body).toMatchObject({ total: 1, data: [{ subject }] });
    expect((await limit(subject)).spent).toBe("2");
    expect((await ask(first, { user: name })).status).toBe(200);
    const lasting = (await readAllEvents(owner)).map(({ data }) => data);
    expect(JSON.stringify(lasting)).not.toContain("ller/1");
    const elsewhere = await openSpender(people);
    expectRefusal(await elsewhere.owner("GET", `/budgets/${path}`), 404, "budget_not_found", "subject");
    expect((await owner("DELETE", `/budgets/${path}`)).status).toBe(204);
  });

  test("makes a step of a workflow wait until there is room", async () => {
    const spender = await openSpender(people);
    const { set } = spender;
    await set("organization", { requests_per_minute: 0 });
    const asks = `ask: defineStep({ retries: 0 }, (_, ctx) => ctx.chat({ model: "offline/echo", messages: [{ role: "user", content: "Hi" }] }))`;
    const source = `import { defineStep } from "svc:workflow";\n${workflowSource(`return ctx.runStep("ask", {});`, asks)}`;
    const running = (await openWorkflows(spender)).run(source, {}, { models: ["offline/echo"] });
    await set("organization", { requests_per_minute: 10 });
    expect((await running).status).toBe("completed");
  });
});
