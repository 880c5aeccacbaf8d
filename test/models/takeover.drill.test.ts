import { beforeAll, describe, expect, test, vi } from "vitest";
import { startProcesses, type Processes } from "../agents/deployment.ts";
import { expectStream } from "../agents/grammar.ts";
import { TOOL } from "../agents/agents.ts";
import { holdAfter, PROVIDERS, startProviders } from "./providers.ts";

/* A worker dies after a round of tools, while it asks the model again. The doubles refuse every state except the one they sent. */

let processes: Processes;
const turns: Record<string, { events: any[]; before: any; after: any; state: string[] }> = {};

beforeAll(async () => {
  const { providers, env } = await startProviders();
  processes = await startProcesses(env);
  const running = await Promise.all(
    PROVIDERS.map(async (name) => {
      const provider = providers[name];
      const settings = { name, model: provider.model, tools: [TOOL], reasoning: { effort: "high" } };
      const agent = processes.at(undefined, (await processes.person.call("POST", "/agents", settings)).body.id);
      const call = { name: TOOL, args: { text: "a" } };
      const held = holdAfter(provider, { reasoning: "I could repeat it.", calls: [call] });
      const events = agent.some("/responses", { input: "Repeat", stream: true }, () => false);
      await vi.waitFor(() => expect(held.open()).toBe(1), { timeout: 60_000 });
      return { name, provider, events, before: provider.prompts().at(-1)!.body };
    }),
  );
  processes.worker.kill();
  for (const { provider } of running) provider.reply({ reasoning: "So it is.", text: "It says a." });
  await processes.start("services");
  for (const { name, provider, events, before } of running)
    turns[name] = {
      events: await events,
      before,
      after: provider.prompts().at(-1)!.body,
      state: provider.conversations().at(-1)!.state,
    };
});

describe.each(PROVIDERS)("a turn on a model of %s", (name) => {
  test("continues after its finished round on another worker, with the provider's own state", () => {
    const { events, before, after, state } = turns[name]!;
    const { status, output } = expectStream(events);
    expect(status).toBe("completed");
    expect(output).toMatchObject([
      { type: "reasoning", summary: [{ text: "I could repeat it." }] },
      { type: "function_call", status: "completed" },
      { type: "reasoning", summary: [{ text: "So it is." }] },
      { type: "message", content: [{ text: "It says a." }] },
    ]);
    expect(after).toEqual(before);
    expect(state).toHaveLength(1);
  });
});

test("no call runs twice if another worker takes over its turn", async () => {
  expect(await processes.count("TurnTakenOver")).toBe(PROVIDERS.length);
  expect(await processes.count("ToolFinished")).toBe(PROVIDERS.length);
});
