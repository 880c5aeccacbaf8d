import { beforeEach, describe, expect, test } from "vitest";
import { streamName } from "#events/ids.ts";
import { expectRefused, failureOf, openStepAttemptsWithProvider } from "./stepAttempts.ts";

/* What a step asks of agents: once, in threads of its run, and within the envelope. */

const { provider, platform, mine } = await openStepAttemptsWithProvider();
beforeEach(() => {
  provider.script(() => undefined);
});

const begun = (work: () => Promise<unknown>) => platform.countTurns(mine.organization_id, work);

describe("an agent", () => {
  test("answers with its own instructions, model and tools", async () => {
    provider.requests.length = 0;
    const agent_id = await mine.agent({ model: "openai/gpt-test", instructions: "Sell.", tools: ["stock"] });
    const { call } = (await mine.run()).attempt();
    const input = [
      { role: "developer", content: "Be kind." },
      { role: "user", content: "How many?" },
    ];
    provider.script(({ method, body }) => {
      if (method !== "POST") return undefined;
      const told = body.messages.findLast(({ role }: any) => role === "tool");
      return told ? { text: `told: ${told.content}` } : { tool_calls: [{ name: "stock", arguments: {} }] };
    });
    const answer = await call("agent", { agent_id, input, vars: { region: "eu" } });
    expect(answer).toEqual({
      response_id: expect.stringMatching(/^resp_[0-9a-f-]{36}$/),
      thread_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      output_text: 'told: {"stock":3,"region":"eu"}',
      usage: {
        input_tokens: expect.any(Number),
        input_tokens_details: expect.any(Object),
        output_tokens: expect.any(Number),
        output_tokens_details: expect.any(Object),
        total_tokens: expect.any(Number),
      },
    });
    const { body } = provider.requests.find(({ method }) => method === "POST")!;
    expect(body.messages.map(({ content }: any) => content)).toEqual(["Sell.\n\nBe kind.", "How many?"]);
    const [started] = await platform.resources.log.read(streamName("thread", answer.thread_id));
    expect(started!.data).toMatchObject({ agent: { agent_id, version: 1 }, model: "openai/gpt-test" });
  });

  test("does not run a tool that requires a person's approval, and its model reads why", async () => {
    const rule = { tools: ["stock"], tool_approvals: { stock: "always" } };
    const agent_id = await mine.agent({ model: "openai/gpt-test", ...rule });
    const { call } = (await mine.run()).attempt();
    provider.script(({ method, body }) => {
      if (method !== "POST") return undefined;
      const told = body.messages.findLast(({ role }: any) => role === "tool");
      return told ? { text: `told: ${told.content}` } : { tool_calls: [{ name: "stock", arguments: {} }] };
    });
    const { output_text } = await call("agent", { agent_id, input: "How many?" });
    expect(output_text).toMatch(/^told: .*which a step of a workflow cannot wait for/);
  });

  test("continues a thread of the run in any attempt, but no other thread", async () => {
    const agent_id = await mine.agent({ model: "openai/gpt-test" });
    const { attempt, retry } = await mine.run();
    const { call } = attempt();
    const { thread_id } = await call("agent", { agent_id, input: "First" });
    provider.requests.length = 0;
    const next = { agent_id, input: "Second", thread_id };
    const answer = await call("agent", next);
    expect(answer.thread_id).toBe(thread_id);
    const { body } = provider.requests.find(({ method }) => method === "POST")!;
    expect(body.messages.map(({ content }: any) => content)).toEqual(["First", "First", "Second"]);
    const second = await retry(1);
    expect(await begun(async () => expect(await second.call("agent", next)).toEqual(answer))).toBe(0);
    expect(await begun(() => second.call("agent", next))).toBe(1);

    const stranger = (await mine.run()).attempt();
    await expectRefused(stranger.call("agent", next), "step_error", "agent: thread_id: the run has no such thread");
    const unknown = { ...next, thread_id: "0198f000-0000-7000-8000-000000000000" };
    await expectRefused(second.call("agent", unknown), "step_error", "agent: thread_id: the run has no such thread");
  });

  test("is asked again in a thread after a failure there", async () => {
    const agent_id = await mine.agent({ model: "openai/gpt-test" });
    const { attempt, retry } = await mine.run();
    const { thread_id } = await attempt().call("agent", { agent_id, input: "First" });
    const next = { agent_id, input: "Second", thread_id };
    provider.script({ status: 400 });
    const second = await retry(1);
    expect(await failureOf(second.call("agent", next))).toMatchObject({ code: "step_error", final: false });
    provider.script({ text: "at last" });
    const third = await retry(2);
    expect(await third.call("agent", next)).toMatchObject({ output_text: "at last", thread_id });
    const types = (await platform.resources.log.read(streamName("thread", thread_id))).map(({ type }) => type);
    expect(types).toEqual([
      "TurnStarted",
      "TurnCompleted",
      "TurnStarted",
      "TurnFailed",
      "TurnStarted",
      "TurnCompleted",
    ]);
  });

  test("waits for another turn of its thread", async () => {
    const agent_id = await mine.agent({ model: "offline/scripted" });
    const { call } = (await mine.run()).attempt();
    const { thread_id } = await call("agent", { agent_id, input: "/say First" });
    const slowly = ["A", "B", "C"].map((text) => ({ agent_id, input: `/slow 0.2\n/say ${text}`, thread_id }));
    const answers = await Promise.all(slowly.map((input) => call("agent", input)));
    expect(answers.map(({ output_text }) => output_text)).toEqual(["A", "B", "C"]);
  });

  test("must be allowed by the envelope, which also limits its tools", async () => {
    const agent_id = await mine.agent({ model: "offline/echo", tools: ["stock"] });
    const other = await mine.agent({});
    const { attempt, edit } = await mine.run({ agents: [agent_id] });
    const { call } = attempt();
    const ask = (id = agent_id) => call("agent", { agent_id: id, input: "A" });
    expect((await ask(agent_id.toUpperCase())).output_text).toBe("A");
    await expectRefused(ask(other), "agent_not_allowed", "is not in the workflow's envelope.agents");
    await edit({ tools: [] });
    await expectRefused(ask(), "tool_not_allowed", "stock");
    await edit({ tools: null, models: ["offline/scripted"] });
    await expectRefused(ask(), "model_not_allowed", "offline/echo");
    await edit({ models: null, agents: [] });
    await expectRefused(ask(), "agent_not_allowed", agent_id);
  });

  test("of another organization or project, or without a model, is not found", async () => {
    const [{ id: project }, { id: elsewhere }] = [await mine.project(), await mine.project()];
    const stranger = await platform.organization("Stranger");
    const inside = (await mine.run({}, project)).attempt();
    const ask = (agent_id: string, { call } = inside) => call("agent", { agent_id, input: "A" });
    const unknown = await failureOf(ask("0198f000-0000-7000-8000-000000000000"));
    expect(unknown).toMatchObject({ code: "step_error", final: true });
    for (const agent_id of [await stranger.agent({}), await mine.agent({ project_id: elsewhere })])
      await expectRefused(ask(agent_id), unknown.code, unknown.message);
    for (const settings of [{ project_id: project }, {}])
      expect((await ask(await mine.agent(settings))).output_text).toBe("A");
    const anywhere = (await mine.run()).attempt();
    expect((await ask(await mine.agent({ project_id: elsewhere }), anywhere)).output_text).toBe("A");
    await expectRefused(ask(await mine.agent({ model: null })), "step_error", "the agent has no model");
  });

  test.each([
    ["an id that is not a UUID", { agent_id: "x", input: "A" }, "agent: agent_id: "],
    ["no input", { agent_id: "0198f000-0000-7000-8000-000000000000" }, "agent: input: "],
    ["an empty input", { agent_id: "0198f000-0000-7000-8000-000000000000", input: " " }, "agent: input: ends with"],
    [
      "too many vars",
      {
        agent_id: "0198f000-0000-7000-8000-000000000000",
        input: "A",
        vars: Object.fromEntries(Array.from({ length: 33 }, (_, n) => [n, n])),
      },
      "agent: vars: must have at most 32 keys",
    ],
    [
      "a thread id that is a number",
      { agent_id: "0198f000-0000-7000-8000-000000000000", input: "A", thread_id: 5 },
      "agent: thread_id: ",
    ],
  ])("reports an invalid input: %s", async (_, input, message) => {
    const { call } = (await mine.run()).attempt();
    await expectRefused(call("agent", input), "step_error", message);
  });
});
