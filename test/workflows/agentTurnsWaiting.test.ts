import { beforeAll, describe, expect, test } from "vitest";
import { chargeDollar } from "../accounts/chargeDollar.ts";
import { toolSource } from "../tools/desk.ts";
import { openWorkflows, SOON, workflowSource, type Tenant, type Workflows } from "./harness.ts";
import { listenTo, type ReceivedEvent } from "./runEvents.ts";

/* Turns of agents that a run waits for: for people, for the words, across retries and forks, and within limits (ADR 45). */

let w: Workflows;
let home: Tenant;
let payer: string;
beforeAll(async () => {
  w = await openWorkflows();
  ({ home } = w);
  const source = toolSource("return { paid: args.to };");
  await home.made(home.owner("POST", "/definitions", { type: "tool", name: "pay", source }));
  payer = await newPayer("always");
});

const newPayer = (rule: unknown): Promise<string> =>
  home.newAgent({ model: "offline/scripted", tools: ["pay"], tool_approvals: { pay: rule } });
const PAY = '/tool pay {"to":"ann"}\n/say Ann has her money.';
/** Starts a run that asks an agent, and waits until its turn waits for a person: the run, and the approval. */
async function startPaying(agent = payer, input = PAY, more = ""): Promise<{ run: string; approval: any }> {
  const source = workflowSource(`const said = await ctx.agent(args.agent, args.input);\n${more}\nreturn said;`);
  const run = await home.start(await home.register(source), { agent, input });
  const { waiting_on } = await home.until(run, (record) => record.waiting_on.length > 0);
  const { response_id } = waiting_on[0];
  const asked = async () => {
    const { body } = await home.owner("GET", "/workflows/approvals?limit=500");
    return body.data.find(({ tool_call }: any) => tool_call?.response_id === response_id);
  };
  await expect.poll(asked, SOON).toBeDefined();
  return { run, approval: await asked() };
}
const traceOf = async (response_id: string) => (await home.owner("GET", `/turns/${response_id}/trace`)).body;
const me = async (): Promise<string> => (await home.owner("GET", "/auth/me")).body.user.id;

describe("a turn that waits for a person", () => {
  test("is parked with its run, continues with the decision, and is an event of the run", async () => {
    const { run, approval } = await startPaying(payer, PAY, 'await ctx.awaitApproval("end", { title: "End?" });');
    expect(approval.tool_call).toMatchObject({ tool: "pay", asked_by: { type: "person", id: await me() } });
    expect(await home.read(run)).toMatchObject({ status: "running", waiting_on: [{ type: "agent", name: payer }] });
    let seen: ReceivedEvent[] = [];
    const enough = (received: ReceivedEvent[]) => {
      seen = received;
      return false;
    };
    const all = listenTo(home, run, { enough });
    const isStarted = () => seen.some(({ event }) => event === "agent.started");
    await expect.poll(isStarted, SOON).toBe(true);
    expect((await home.decide(approval)).status).toBe(200);
    const words = () => seen.filter(({ event }) => event === "agent.delta");
    const text = () =>
      words()
        .map(({ data }) => data.text)
        .join("");
    await expect.poll(text, SOON).toBe("Ann has her money.");
    await home.decide((await home.pending(run))[0]);
    const { status, result, waits } = await home.untilOver(run);
    expect([status, result.output_text]).toEqual(["completed", "Ann has her money."]);
    expect(waits[0]).toMatchObject({ type: "agent", agent_id: payer, outcome: "answered" });
    const events = await all;
    const { response_id, thread_id } = result;
    const started = events.find(({ event }) => event === "agent.started")!;
    expect(started.data).toEqual({
      run_id: run,
      at: expect.any(String),
      key: waits[0].key,
      agent_id: payer,
      response_id,
      thread_id,
    });
    expect(words()[0]).toMatchObject({ id: undefined, data: { run_id: run, key: waits[0].key, response_id } });
    const { rounds } = await traceOf(response_id);
    expect(rounds[0].calls).toMatchObject([{ name: "pay", status: "completed", approval: { status: "approved" } }]);
  });

  test("cannot be decided by the person who started the run if its rule excludes self-approval", async () => {
    const { run, approval } = await startPaying(await newPayer({ self_approval: false }));
    expect((await home.decide(approval)).body.error.code).toBe("approver_not_allowed");
    const other = await home.member("owner", "other");
    expect((await home.decide(approval, "reject", other.call)).status).toBe(200);
    const { result } = await home.untilOver(run);
    expect(result.output_text).toBe("Ann has her money.");
    expect((await traceOf(result.response_id)).rounds[0].calls).toMatchObject([{ status: "failed" }]);
  });

  test("ends with its run, and so does its approval", async () => {
    const { run, approval } = await startPaying();
    expect((await home.cancel(run)).status).toBe(200);
    const state = async () => (await home.owner("GET", `/workflows/approvals/${approval.id}`)).body.status;
    await expect.poll(state, SOON).toBe("cancelled");
    expect((await traceOf(approval.tool_call.response_id)).status).not.toBe("in_progress");
    expect((await home.read(run)).waits).toMatchObject([{ type: "agent", outcome: "run_ended" }]);
  });
});

describe("a run that continues one that asked agents", () => {
  const TALK = `const one = await ctx.agent(args.clerk, "One", { vars: { n: args.n } });
    const two = await ctx.agent(args.clerk, args.next, { thread_id: one.thread_id });
    return { one, two };`;
  const act = (run: string, what: "retry" | "fork", body?: object) =>
    home.made(home.owner("POST", `/workflows/runs/${run}/${what}`, body));

  test("a retry keeps answers, repeats failed calls, and continues the thread", async () => {
    const clerk = await home.newAgent({ model: "offline/scripted" });
    const failed = await home.run(workflowSource(TALK), { clerk, next: "/fail 400" });
    expect([failed.status, failed.error]).toEqual(["failed", expect.stringMatching(/^agent: /)]);
    await home.made(home.owner("PATCH", `/agents/${clerk}`, { model: "offline/echo" }));
    const { status, result, waits } = await home.untilOver((await act(failed.id, "retry")).id);
    expect([status, result.two.output_text]).toEqual(["completed", "/fail 400"]);
    expect(result.one.response_id).toBe(`resp_${failed.waits[0].turn_id}`);
    expect(result.two.thread_id).toBe(result.one.thread_id);
    expect(waits).toHaveLength(1);
    const traces = await Promise.all([failed.waits[1].turn_id, waits[0].turn_id].map((id) => traceOf(`resp_${id}`)));
    expect(traces.map((trace) => trace.status)).toEqual(["failed", "completed"]);
  });

  test("a fork with other arguments repeats the calls whose arguments changed", async () => {
    const clerk = await home.newAgent();
    const first = await home.run(workflowSource(TALK), { clerk, n: 1, next: "Two" });
    const again = await home.untilOver((await act(first.id, "fork", { args: { clerk, n: 1, next: "Three" } })).id);
    expect(again.result.one).toEqual(first.result.one);
    expect([again.result.two.output_text, again.result.two.thread_id]).toEqual(["Three", first.result.one.thread_id]);
    const other = await home.untilOver((await act(first.id, "fork", { args: { clerk, n: 2, next: "Two" } })).id);
    expect(other.result.one.thread_id).not.toBe(first.result.one.thread_id);
  });
});

describe("a turn of a run", () => {
  test("reads only documents without named readers, even if the run acts for a person who may read more", async () => {
    const knowledge = (path: string, body: object) => home.made(home.owner("POST", `/v1/knowledge${path}`, body));
    const { slug } = await knowledge("/collections", { name: "Vault" });
    const push = async (name: string, more: object) => {
      const { id } = await knowledge(`/collections/${slug}/documents/text`, {
        text: `The ${name} text.`,
        name,
        ...more,
      });
      const status = async () => (await home.owner("GET", `/v1/knowledge/documents/${id}`)).body.status;
      await expect.poll(status, SOON).toBe("ready");
      return id as string;
    };
    const person = { type: "person", id: await me() };
    const [open, closed] = [await push("open", {}), await push("closed", { readers: [{ person: person.id }] })];
    const reader = await home.newAgent({ model: "offline/scripted", tools: ["read_document"] });
    const source = workflowSource(
      'return (await ctx.agent(args.reader, `/tool read_document {"document_id":"${args.id}"}`)).output_text;',
    );
    const read = async (id: string) => (await home.run(source, { reader, id }, { run_as: person })).result;
    expect(await read(open)).toContain("The open text.");
    expect(await read(closed)).toContain("There is no such document");
  });

  test("does not start while the person for whom the run acts is inactive", async () => {
    const { id, call } = await home.member("builder", "gone");
    const body =
      'await ctx.awaitApproval("go", { title: "Go?" });\nreturn ctx.agent(args.clerk, "Hi", { onError: "return" });';
    const { id: definition_id } = await home.define(workflowSource(body));
    const workflow = await home.made(
      call("POST", "/workflows", { definition_id, envelope: { run_as: { type: "person", id } } }),
    );
    const run = await home.start(workflow, { clerk: await home.newAgent() });
    const [approval] = await home.pending(run);
    await home.made(home.owner("PATCH", `/members/${id}`, { active: false }));
    await home.decide(approval);
    expect((await home.untilOver(run)).result).toMatchObject({ ok: false, error: { code: "run_as_inactive" } });
  });

  test("is refused by a used-up budget, and counts for its agent and as a step", async () => {
    const other = await w.join("Spenders");
    const agent = await other.newAgent();
    await chargeDollar(other.owner, "offline/echo");
    await other.made(other.owner("PUT", `/budgets/agent:${agent}`, { cost_per_day: "1" }));
    const source =
      workflowSource(`const [one, two] = [await ctx.agent(args.agent, "One"), await ctx.agent(args.agent, "Two", { onError: "return" })];
      return [one.output_text, two.ok, two.error.code];`);
    expect((await other.run(source, { agent })).result).toEqual(["One", false, "budget_exceeded"]);
    const budget = (await other.owner("GET", `/budgets/agent:${agent}`)).body;
    expect(budget.limits[0].spent).toBe("1");
    const limited = await other.run(source, { agent: await other.newAgent() }, { limits: { max_steps: 1 } });
    expect([limited.status, limited.error_info.code]).toEqual(["failed", "too_many_steps"]);
  });
});
