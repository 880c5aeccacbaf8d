import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startAgents, TOOL, type AgentClient } from "../agents/agents.ts";
import type { Answer } from "../doubles/dialect.ts";
import { PROVIDERS, startProviders, type Provider } from "./providers.ts";

const started = await startProviders();
const providers = started.providers;
const agents = await startAgents(started.env);

/** How each provider refuses, and what the caller reads. */
const REFUSALS: Record<string, [answer: Answer, told: string]> = {
  openai: [{ refusal: "I can not." } as Answer, "I can not."],
  anthropic: [{ text: "", finish: "refusal" }, "The model refused to answer."],
  google: [{ text: "", finish: "SAFETY" }, "The provider's safety filter stopped the answer."],
};

const HIGH = { effort: "high" };
/** What comes back with the calls of each request: signed thoughts, or calls. */
const STATES: Record<string, number[]> = { openai: [0, 1, 2], anthropic: [0, 1, 2], google: [0, 1, 2] };

describe.each(PROVIDERS)("a response of an agent on a model of %s", (name) => {
  let provider: Provider;
  let agent: AgentClient;
  beforeAll(async () => {
    provider = providers[name];
    const settings = { instructions: "You are Ada's.", tools: [TOOL], reasoning: { effort: "high" } };
    agent = await agents.open({ model: provider.model, ...settings });
  });
  beforeEach(() =>
    provider.reply(
      { reasoning: "I could repeat it.", text: "Let me see.", calls: [{ name: TOOL, args: { text: "a" } }] },
      { reasoning: "So it is.", text: "It says a." },
    ),
  );

  const ITEMS = [
    { type: "reasoning", summary: [{ type: "summary_text", text: "I could repeat it." }] },
    { type: "message", content: [{ text: "Let me see." }] },
    { type: "function_call", name: TOOL, arguments: '{"text":"a"}', status: "completed" },
    { type: "reasoning", summary: [{ type: "summary_text", text: "So it is." }] },
    { type: "message", content: [{ text: "It says a." }] },
  ];

  test("streams its reasoning, calls and messages item by item", async () => {
    const { response } = await agent.stream("Repeat", { instructions: "Be brief." });
    expect(response).toMatchObject({ status: "completed", model: provider.model, output: ITEMS });
    expect(response.usage).toMatchObject({ input_tokens: 24, output_tokens: 14, total_tokens: 38 });
    const [first, second] = provider.conversations();
    expect(first!.instructions).toBe("You are Ada's.\n\nBe brief.");
    expect(second!.state).toHaveLength(1);
  });

  test("can be buffered, and the next turn sends its texts without its reasoning", async () => {
    const { id, output, usage } = await agent.ask("Repeat");
    expect(output.map(({ type }: any) => type)).toEqual(ITEMS.map(({ type }) => type));
    expect(usage.total_tokens).toBe(38);
    provider.reply({ text: "Yes." });
    await agent.ask("Really?", { previous_response_id: id });
    const { texts, state } = provider.conversations().at(-1)!;
    expect(texts).toEqual(["Repeat", "Let me see.\n\nIt says a.", "Really?"]);
    expect(state).toEqual([]);
  });

  test("that refuses has a refusal part, buffered, streamed and stored, and the thread keeps it", async () => {
    const [reply, told] = REFUSALS[name]!;
    provider.reply(reply);
    const whole = await agent.ask("Do harm");
    const { response } = await agent.stream("Do harm");
    for (const { status, output } of [whole, response, (await agent.call("GET", `/responses/${whole.id}`)).body])
      expect([status, output[0].content]).toEqual(["completed", [{ type: "refusal", refusal: told }]]);
    provider.reply({ text: "Because." });
    await agent.ask("Why not?", { previous_response_id: whole.id });
    expect(provider.conversations().at(-1)!.texts).toEqual(["Do harm", told, "Why not?"]);
  });

  describe("that calls a client tool", () => {
    const tools = [{ type: "function", name: "get_weather", parameters: { type: "object", properties: {} } }];
    const weather = { name: "get_weather", args: { city: "Oslo" } };
    const open = () => agents.open({ model: provider.model, tools: [TOOL], client_tools: true, reasoning: HIGH });
    const callIn = ({ output }: any) => output.find(({ name: called }: any) => called === "get_weather");
    const result = ({ call_id }: any) => ({ type: "function_call_output", call_id, output: "Rain" });
    beforeEach(() =>
      provider.reply(
        { reasoning: "Two things.", text: "Let me see.", calls: [{ name: TOOL, args: { text: "a" } }, weather] },
        { reasoning: "So it is.", calls: [weather] },
        { text: "It rains." },
      ),
    );
    const results = () =>
      provider
        .conversations()
        .at(-1)!
        .results.map(({ output }) => output);

    test("continues in its thread with the provider's own state, buffered and streamed", async () => {
      const caller = await open();
      const first = await caller.ask("Weather?", { tools });
      const more = { tools, previous_response_id: first.id };
      const { response: second } = await caller.stream([result(callIn(first))], more);
      const third = await caller.ask([result(callIn(second))], { tools, previous_response_id: second.id });
      expect(third.output.at(-1)).toMatchObject({ content: [{ text: "It rains." }] });
      expect(provider.conversations().map(({ state }) => state.length)).toEqual(STATES[name]);
      expect(provider.conversations()[0]!.tools).toEqual([TOOL, "get_weather"]);
      expect(results()).toEqual([{ text: "a", vars: {} }, "Rain", "Rain"]);
    });

    test("continues with the whole conversation, without that state", async () => {
      const caller = await open();
      const input: object[] = [{ role: "user", content: "Weather?" }];
      for (let called; (called = callIn(await caller.ask(input, { tools }))); ) input.push(called, result(called));
      expect(input).toHaveLength(5);
      expect(results()).toEqual(["Rain", "Rain"]);
    });

    test("may have an id from another provider", async () => {
      provider.reply({ text: "It rains." });
      const called = { type: "function_call", call_id: `functions.get_weather:${"0".repeat(60)}`, name: "get_weather" };
      const input = [{ role: "user", content: "Weather?" }, { ...called, arguments: "{}" }, result(called)];
      const { output } = await (await open()).ask(input, { tools });
      expect(output.at(-1)).toMatchObject({ content: [{ text: "It rains." }] });
      expect(results()).toEqual(["Rain"]);
    });
  });

  test("fails if the provider refuses it", async () => {
    provider.reply({ status: 400, body: provider.dialect.errorBody(400, "No.") });
    const response = await agent.ask("Again");
    expect(response).toMatchObject({ status: "failed", error: { code: "agent_error" }, output: [] });
  });
});
