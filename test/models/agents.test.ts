import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startAgents, TOOL, type AgentClient, type Agents } from "../agents/agents.ts";
import { PROVIDERS, startProviders, type Double } from "./providers.ts";

/* Agents on Anthropic's and Google's models: what they think, what they call and what they say, as items. */

let agents: Agents;
let doubles: Awaited<ReturnType<typeof startProviders>>;
beforeAll(async () => {
  doubles = await startProviders();
  agents = await startAgents(doubles.env);
});

describe.each(PROVIDERS)("%s", (name) => {
  let double: Double;
  let agent: AgentClient;
  beforeAll(async () => {
    double = doubles[name];
    agent = await agents.open({
      model: double.model,
      instructions: "You are Ada's.",
      tools: [TOOL],
      reasoning: { effort: "high" },
    });
  });
  beforeEach(() =>
    double.answers(
      { thoughts: "I could repeat it.", text: "Let me see.", call: { name: TOOL, args: { text: "a" } } },
      { thoughts: "So it is.", text: "It says a." },
    ),
  );

  const ITEMS = [
    { type: "reasoning", summary: [{ type: "summary_text", text: "I could repeat it." }] },
    { type: "message", content: [{ text: "Let me see." }] },
    { type: "function_call", name: TOOL, arguments: '{"text":"a"}', status: "completed" },
    { type: "reasoning", summary: [{ type: "summary_text", text: "So it is." }] },
    { type: "message", content: [{ text: "It says a." }] },
  ];

  test("streamed, item by item", async () => {
    const { response } = await agent.stream("Repeat", { instructions: "Be brief." });
    expect(response).toMatchObject({ status: "completed", model: double.model, output: ITEMS });
    expect(response.usage).toMatchObject({ input_tokens: 24, output_tokens: 14, total_tokens: 38 });
    const [one, two] = double.asked();
    expect(one!.instructions).toBe("You are Ada's.\n\nBe brief.");
    expect(two!.state).toHaveLength(1);
  });

  test("buffered, and the next turn sees what was said, not what was thought", async () => {
    const { id, output, usage } = await agent.ask("Repeat");
    expect(output.map(({ type }: any) => type)).toEqual(ITEMS.map(({ type }) => type));
    expect(usage.total_tokens).toBe(38);
    double.answers({ text: "Yes." });
    await agent.ask("Really?", { previous_response_id: id });
    const { texts, state } = double.asked().at(-1)!;
    expect(texts).toEqual(["Repeat", "Let me see.\n\nIt says a.", "Really?"]);
    expect(state).toEqual([]);
  });

  test("a turn whose model breaks off later fails with what it had", async () => {
    const { response } = await agent.stream("Repeat");
    expect(response.status).toBe("completed");
    double.answers({ text: "Let me see.", call: { name: TOOL, args: {} } });
    double.refuses(400);
    const failed = await agent.ask("Again");
    expect(failed).toMatchObject({ status: "failed", error: { code: "agent_error" }, output: [] });
  });
});
