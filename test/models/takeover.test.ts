import { beforeAll, describe, expect, test, vi } from "vitest";
import { startProcesses, type Processes } from "../agents/deployment.ts";
import { expectStream } from "../agents/grammar.ts";
import { TOOL } from "../agents/agents.ts";
import { PROVIDERS, startProviders } from "./providers.ts";

/*
 * A worker dies after a round of tools, while the model is asked again: the next one shows the model its own state, as the log has kept
 * it, and calls no tool twice. The doubles refuse any other state than the one that they gave.
 */

let doubles: Awaited<ReturnType<typeof startProviders>>;
let processes: Processes;
const answers: Record<string, { events: any[]; before: any; after: any }> = {};

beforeAll(async () => {
  doubles = await startProviders();
  processes = await startProcesses(doubles.env);
  const turns = PROVIDERS.map(async (name) => {
    const double = doubles[name];
    const { body } = await processes.person.call("POST", "/agents", {
      name,
      model: double.model,
      tools: [TOOL],
      reasoning: { effort: "high" },
    });
    const agent = processes.at(undefined, body.id);
    const hanging = double.hangsAfter({ thoughts: "I could repeat it.", call: { name: TOOL, args: { text: "a" } } });
    const events = agent.some("/responses", { input: "Repeat", stream: true }, () => false);
    const bodies = () => double.requests.filter(({ method }) => method === "POST").map((one: any) => one.body);
    await vi.waitFor(() => expect(hanging.open()).toBe(1), { timeout: 30_000 });
    return { name, double, events, bodies };
  });
  const running = await Promise.all(turns);
  const before = running.map(({ bodies }) => bodies().at(-1));
  processes.worker.kill();
  for (const { double } of running) double.answers({ thoughts: "So it is.", text: "It says a." });
  await processes.start("services");
  for (const [n, { name, events, bodies }] of running.entries())
    answers[name] = { events: await events, before: before[n], after: bodies().at(-1) };
}, 90_000);

describe.each(PROVIDERS)("%s", (name) => {
  test("goes on after the round, with its own state", () => {
    const { events, before, after } = answers[name]!;
    const { status, output } = expectStream(events);
    expect(status).toBe("completed");
    expect(output).toMatchObject([
      { type: "reasoning", summary: [{ text: "I could repeat it." }] },
      { type: "function_call", status: "completed" },
      { type: "reasoning", summary: [{ text: "So it is." }] },
      { type: "message", content: [{ text: "It says a." }] },
    ]);
    expect(after).toEqual(before);
    expect(doubles[name].asked().at(-1)!.state).toHaveLength(1);
  });
});

test("no call was made twice", async () => {
  expect(await processes.count("TurnTakenOver")).toBe(PROVIDERS.length);
  expect(await processes.count("ToolFinished")).toBe(PROVIDERS.length);
});
