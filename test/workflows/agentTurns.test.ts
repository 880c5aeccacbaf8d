import { describe, expect, test } from "vitest";
import { openWorkflows, SOON, workflowSource } from "./harness.ts";

/* Turns of agents that `run()` asks for (ADR 45). */

const w = await openWorkflows();
const clerk = await w.home.newAgent({ name: "Clerk", model: "offline/echo" });

/** The record of a run whose `run()` is this code, once it is over. */
const ran = (body: string, envelope: object = {}) => w.home.run(workflowSource(body), { clerk }, envelope);

describe("ctx.agent", () => {
  test("asks an agent by its id or name, once for equal calls, and returns its answer", async () => {
    const { status, result, waits } = await ran(
      `const one = await ctx.agent(args.clerk, "Good morning");
       const again = await ctx.agent(args.clerk, "Good morning");
       return { one, again, named: await ctx.agent("Clerk", [{ role: "user", content: "Hi" }], { vars: { a: 1 } }) };`,
    );
    expect(status).toBe("completed");
    expect(result.one).toMatchObject({ output_text: "Good morning", usage: { total_tokens: expect.any(Number) } });
    expect(result.again).toEqual(result.one);
    expect(result.named.output_text).toBe("Hi");
    expect(waits).toMatchObject([
      { type: "agent", name: clerk, agent_id: clerk, outcome: "answered" },
      { type: "agent", name: "Clerk", agent_id: clerk, outcome: "answered" },
    ]);
    expect(result.one.response_id).toBe(`resp_${waits[0].turn_id}`);
    const { body } = await w.home.owner("GET", `/turns/${result.one.response_id}/trace`);
    expect(body).toMatchObject({ status: "completed" });
  });

  test("continues a thread of the run", async () => {
    const { result } = await ran(
      `const { thread_id } = await ctx.agent("Clerk", "One");
       const next = await ctx.agent("Clerk", "Two", { thread_id });
       return next.thread_id === thread_id && next.output_text;`,
    );
    expect(result).toBe("Two");
  });

  test("takes part in a race, and the loser is stopped with the run", async () => {
    const { status, result } = await ran(
      `return Promise.race([ctx.agent("Clerk", "fast").then((one) => one.output_text), ctx.sleep("1h")]);`,
    );
    expect([status, result]).toEqual(["completed", "fast"]);
  });

  test.each([
    ["no agent has that name", `ctx.agent("Nobody", "Hi"`, {}, /agent: there is no agent Nobody/],
    [
      "the envelope leaves it out",
      "ctx.agent(args.clerk, 'Hi'",
      { agents: [] },
      /not in the workflow's envelope.agents/,
    ],
    ["the envelope leaves its model out", "ctx.agent(args.clerk, 'Hi'", { models: ["a/b"] }, /envelope.models/],
    ["a message has an invalid role", "ctx.agent(args.clerk, [{ role: 'x', content: 'y' }]", {}, /agent: input/],
    ["the thread belongs to someone else", `ctx.agent("Clerk", "Hi", { thread_id: args.clerk }`, {}, /thread/],
  ])("fails if %s, with an error or a value", async (_, call, envelope, message) => {
    const close = call.includes("{ thread_id") ? "" : ", {}";
    const failed = await ran(`return ${call}${close});`, envelope);
    expect([failed.status, failed.error]).toEqual(["failed", expect.stringMatching(message)]);
    expect(failed.error_info).toMatchObject({ code: "run_error", line: expect.any(Number) });
    const options = call.includes("{ thread_id")
      ? call.replace(" }", ', onError: "return" }')
      : `${call}, { onError: "return" }`;
    const { result } = await ran(`return ${options});`, envelope);
    expect(result).toMatchObject({
      ok: false,
      error: { code: expect.any(String), message: expect.stringMatching(message) },
    });
  });

  test("names unsupported options, when it is saved and when it runs", async () => {
    const refused = await w.home.owner("POST", "/definitions", {
      type: "workflow",
      name: "wrong",
      source: workflowSource(`return ctx.agent("a", "b", { retries: 2 });`),
    });
    expect(refused.body.error.message).toMatch(/agent: retries is not an option/);
    const { error } = await ran(`return ctx.agent("a", args.nothing);`);
    expect(error).toMatch(/agent: the input must be a text, or a list of messages/);
  });

  test("is listed in the waits of a live run, and its turn stops with the run", async () => {
    const slow = await w.home.newAgent({ name: "Slow", model: "offline/scripted" });
    const workflow = await w.home.register(workflowSource(`return ctx.agent("Slow", "/slow 3000\\n/say late");`));
    const run = await w.home.start(workflow);
    const { waits, waiting_on } = await w.home.until(run, (record) => record.waits[0]?.agent_id === slow);
    const response_id = `resp_${waits[0].turn_id}`;
    expect(waiting_on).toEqual([{ type: "agent", name: "Slow", response_id, since: waits[0].since }]);
    await w.home.cancel(run);
    const trace = async () => (await w.home.owner("GET", `/turns/${response_id}/trace`)).body.status;
    await expect.poll(trace, SOON).not.toBe("in_progress");
  });
});
