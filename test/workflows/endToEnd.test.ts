import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { openReader } from "../knowledge/library.ts";
import { toolSource } from "../tools/desk.ts";
import { openWorkflows, workflowSource } from "./harness.ts";

/* From a hook's call to the polled result, through every part of the platform that a step may use. */

const w = await openWorkflows();

/** Starts a workflow by its hook, and returns the last poll. */
async function byHook(source: string, payload: object = {}, envelope: object = {}): Promise<any> {
  const hook = await w.home.hook(await w.home.register(source, envelope));
  const { run_id } = await w.home.call(hook, payload);
  return w.home.polled(hook, run_id);
}
/** The result of a step that is called with the payload. */
async function step(body: string, payload: object = {}, envelope: object = {}): Promise<any> {
  const source = workflowSource("return ctx.runStep('use', args);", `use: async (args, ctx) => { ${body} }`);
  const { status, result, error } = await byHook(source, payload, envelope);
  expect([status, error]).toEqual(["completed", null]);
  return result;
}

describe("a step can use", () => {
  test("a model", async () => {
    const { status, result } = await byHook(
      workflowSource(
        `return ctx.runStep("ask", { words: args.words });`,
        `ask: async ({ words }, ctx) => (await ctx.chat({ model: "offline/echo", messages: [{ role: "user", content: words }] })).content`,
      ),
      { words: "How are you?" },
      { models: ["offline/echo"] },
    );
    expect([status, result]).toEqual(["completed", "How are you?"]);
  });

  test("an agent", async () => {
    const settings = { name: "Clerk", model: "offline/echo", instructions: "Be brief." };
    const { id } = await w.home.made(w.home.owner("POST", "/agents", settings));
    const answer = await step("return ctx.agents.run({ agent_id: args.id, input: 'Good morning' });", { id });
    expect(answer).toMatchObject({ output_text: "Good morning", response_id: expect.stringMatching(/^resp_/) });
  });

  test("the organization's knowledge", async () => {
    const knowledge = openReader(w.url, w.home.credentials.api_key);
    const slug = await knowledge.collect("Rules");
    const { id } = await knowledge.keep(slug, { content: "# Refunds\n\nA refund takes nine days." });
    const answer = await step(
      `const { results } = await ctx.knowledge.search({ query: "refund days", collections: [args.slug] });
       const { text } = await ctx.knowledge.read({ document_id: results[0].document_id });
       return { found: results[0].document_id, text };`,
      { slug },
      { collections: [slug] },
    );
    expect(answer).toEqual({ found: id, text: expect.stringContaining("nine days") });
  });

  test("a tool of the organization", async () => {
    const source = toolSource("return { twice: args.n * 2 };", {
      parameters: { type: "object", properties: { n: { type: "number" } } },
    });
    await w.home.made(w.home.owner("POST", "/definitions", { type: "tool", name: "twice", source }));
    expect(await step("return ctx.tools.call('twice', { n: 21 });", {}, { tools: ["twice"] })).toEqual({ twice: 42 });
  });

  test("a host and a secret, and sends the host an idempotency key", async () => {
    await w.home.secret("shop_token", "token-of-the-shop");
    const answer = await step(
      `const authorization = "Bearer " + (await ctx.secrets.get("shop_token"));
       const answer = await ctx.fetch(args.url, { method: "POST", headers: { authorization }, body: "{}" });
       return { status: answer.status, type: answer.headers.get("Content-Type"), ...(await answer.json()) };`,
      { url: `${w.site.url}/orders` },
      { ...w.egress, secrets: ["shop_token"] },
    );
    expect(answer).toEqual({ status: 200, type: "application/json", nth: 1 });
    const { headers } = w.site.requests.find(({ path }) => path === "/orders")!;
    expect(headers).toMatchObject({
      authorization: "Bearer token-of-the-shop",
      "idempotency-key": expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
  });

  test("a host for two payments, and pays each once even if the step is retried", async () => {
    const record = await w.home.run(
      `import { defineStep } from "svc:workflow";
      export const steps = { pay: defineStep({ retries: 1, backoff: { kind: "fixed", initial_ms: 1 } }, async ({ url }, ctx) => {
        for (const to of ["ann", "bob"]) await ctx.fetch(url + "?to=" + to, { method: "POST", body: "{}" });
        if (ctx.attempt === 1) throw new Error("once more");
      }) };
      export const run = (ctx, args) => ctx.runStep("pay", args);`,
      { url: `${w.site.url}/pay` },
      w.egress,
    );
    expect(record.status).toBe("completed");
    const keysOf = (to: string) =>
      w.site.requests.filter(({ path }) => path === `/pay?to=${to}`).map(({ headers }) => headers["idempotency-key"]);
    const [ann, bob] = [keysOf("ann"), keysOf("bob")];
    expect([ann.length, new Set(ann).size, bob.length, new Set(bob).size]).toEqual([2, 1, 2, 1]);
    expect(ann[0]).not.toBe(bob[0]);
  });
});

describe("the example", () => {
  const source = readFileSync(new URL("../../examples/refund.ts", import.meta.url), "utf8");

  test("refunds a small amount at once, and notifies the receiver", async () => {
    const { status, result } = await byHook(source, { order: "A-1", amount: 20 });
    const receipt = expect.stringMatching(/^A-1-[0-9a-f]{8}$/);
    expect([status, result]).toEqual([
      "completed",
      { refunded: true, receipt, told: [`customer: ${result.receipt}`, `books: ${result.receipt}`] },
    ]);
  });

  test("requests approval for a large amount, and respects a rejection", async () => {
    const { home } = w;
    const workflow = await home.register(source);
    expect((await home.read(await home.start(workflow, { order: "A-2", amount: 1 }))).id).toEqual(expect.any(String));
    const run = await home.start(workflow, { order: "A-2", amount: 501 });
    const [approval] = await home.pending(run);
    expect([approval.name, approval.title]).toEqual(["manager", "Refund 501 for A-2?"]);
    await home.decide(approval, { decision: "reject", comment: "not again" });
    expect((await home.untilOver(run)).result).toEqual({ refunded: false, because: "not again" });
  });
});

test("the guide's example is saved without a warning, and requests what it needs", async () => {
  const guide = readFileSync(new URL("../../docs/workflows.md", import.meta.url), "utf8");
  const source = guide.split("```ts\n")[1]!.split("```")[0]!;
  const { workflow, secrets, id } = await w.home.define(source);
  expect([workflow.lint, secrets]).toEqual([[], ["shop_key"]]);
  expect(workflow.steps.refund).toMatchObject({ retries: 4, timeout_s: 30, on_lost: "retry", input: null });
  const register = (envelope: object): Promise<any> =>
    w.home.made(w.home.owner("POST", "/workflows", { definition_id: id, envelope }));
  expect((await register({})).warnings).toMatchObject([{ code: "secret_not_allowed" }]);
  expect((await register({ secrets: ["shop_key"], egress: ["shop.example"] })).warnings).toEqual([]);
  const caught = workflowSource(`try { await ctx.sleep("1s"); } catch {}`);
  expect((await w.home.define(caught)).workflow.lint).toMatchObject([{ code: "caught_signal", line: 4, column: 13 }]);
});

test("a workflow that makes all kinds of calls can be followed from its first event to its last", async () => {
  const { home, site, egress } = w;
  const source = `import { awaitApproval, defineStep, runStep, runStepMany, sleep } from "svc:workflow";
const url: string = ${JSON.stringify(site.url)};
export const meta = { args: { type: "object", properties: { items: { type: "array" } }, required: ["items"] } };
export const steps = {
  visit: defineStep({ retries: 1 }, async ({ item }: { item: string }, ctx) => {
    ctx.log("visiting", item);
    return (await (await ctx.fetch(url + "/all/" + item)).json()).nth;
  }),
};
export async function run(ctx, { items }: { items: string[] }) {
  const began = ctx.now("began");
  const [first] = await Promise.all([runStep(steps.visit, { item: "first" }), sleep(50)]);
  const { data, decided_by, ...answer } = await awaitApproval("boss", {
    title: \`\${items.length} items?\`,
    form: { type: "object", properties: { limit: { type: "integer" } }, required: ["limit"] },
  });
  const chosen = items.slice(0, data.limit).map((item) => ({ item }));
  const visits = await runStepMany("visit", chosen, { concurrency: 2 });
  return { first, visits, answer, by: decided_by.type, id: ctx.uuid("receipt"), began, runId: ctx.runId };
}`;
  const run = await home.start(await home.register(source, egress), { items: ["a", "b", "c"] });
  const [approval] = await home.pending(run);
  expect((await home.decide(approval, { approved: true, data: { limit: 2 } }, home.key)).status).toBe(200);
  const { result, steps, created_at, counts } = await home.untilOver(run);
  const uuid = expect.stringMatching(/^[0-9a-f-]{36}$/);
  const { decided_at } = (await home.approvals(run))[0];
  const answer = { approved: true, status: "approved", comment: null, approval_id: approval.id, decided_at };
  expect(result).toEqual({
    first: 1,
    visits: [1, 1],
    answer,
    by: "api_key",
    id: uuid,
    began: expect.any(Number),
    runId: run,
  });
  expect(Math.abs(result.began - Date.parse(created_at))).toBeLessThan(10_000);
  expect([counts.steps, counts.attempts]).toEqual([3, 3]);
  expect(steps.map(({ attempts }: any) => attempts[0].logs)).toEqual([
    ["visiting first"],
    ["visiting a"],
    ["visiting b"],
  ]);
  const { text } = await home.owner("GET", `/workflows/runs/${run}/events`);
  const told = [...text.matchAll(/^event: (.+)$/gm)].map(([, name]) => name);
  expect([told[0], told.at(-1)]).toEqual(["run.created", "run.completed"]);
  expect(
    Object.fromEntries(Object.entries(Object.groupBy(told, (name) => name!)).map(([k, v]) => [k, v!.length])),
  ).toEqual({
    "run.created": 1,
    "run.started": 1,
    "step.scheduled": 3,
    "step.started": 3,
    "step.log": 3,
    "step.completed": 3,
    "timer.started": 1,
    "timer.fired": 1,
    "approval.requested": 1,
    "approval.decided": 1,
    "run.completed": 1,
  });
});
