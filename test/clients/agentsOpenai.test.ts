import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { startAgents, TOOL } from "../agents/agents.ts";
import { checkedFetch } from "../agents/checkedFetch.ts";
import { expectStream } from "../agents/grammar.ts";

const agents = await startAgents();

const clientFor = async (settings: object = {}) =>
  new OpenAI({
    apiKey: agents.api_key,
    baseURL: `${agents.url}/api/agents/${await agents.agent(settings)}/v1`,
    maxRetries: 0,
    fetch: checkedFetch,
  });
const AGENT = "any";

describe.each([
  ["without tools", {}, "/reason Let me think.\n/say Here you are.", ["reasoning", "message"]],
  ["with tools", { tools: [TOOL] }, `/tool ${TOOL} {"text":"x"}\n/say Here you are.`, ["function_call", "message"]],
  [
    "with tools that it keeps to itself",
    { tools: [TOOL], expose_tool_items: false },
    `/tool ${TOOL} {}\n/say Here you are.`,
    ["message"],
  ],
])("an agent %s", (_, settings, input, types) => {
  test("create and retrieve", async () => {
    const client = await clientFor(settings);
    const response = await client.responses.create({ model: AGENT, input });
    expect(response).toMatchObject({ status: "completed", output_text: "Here you are.", model: "offline/scripted" });
    expect(response.output.map(({ type }) => type)).toEqual(types);
    expect(await client.responses.retrieve(response.id)).toEqual(response);
  });

  test("create with stream: every event is valid", async () => {
    const client = await clientFor(settings);
    const events: any[] = [];
    for await (const event of await client.responses.create({ model: AGENT, input, stream: true })) events.push(event);
    const { output, id } = expectStream(events);
    expect(output.map(({ type }: { type: string }) => type)).toEqual(types);
    const stored: any = await client.responses.retrieve(id);
    expect({ ...stored, output_text: undefined }).toEqual({ ...events.at(-1).response, output_text: undefined });
  });

  test("the stream helper assembles the response", async () => {
    const client = await clientFor(settings);
    const stream = client.responses.stream({ model: AGENT, input });
    const words: string[] = [];
    stream.on("response.output_text.delta", ({ delta }) => words.push(delta));
    const response = await stream.finalResponse();
    expect(words.join("")).toBe("Here you are.");
    expect(response).toMatchObject({ output_text: "Here you are.", status: "completed" });
    expect(response.output.map(({ type }) => type)).toEqual(types);
  });
});

test("the stream helper resumes a running response", async () => {
  const client = await clientFor();
  const whole: any[] = [];
  let resumed: Promise<any[]> | undefined;
  const input = "/slow 0.2\n/say one two three four five";
  for await (const event of await client.responses.create({ model: AGENT, input, stream: true })) {
    whole.push(event);
    if (whole.length === 6)
      resumed = Array.fromAsync(
        client.responses.stream({ response_id: whole[0].response.id, starting_after: event.sequence_number }),
      );
  }
  expectStream(whole);
  const rest = (await resumed!).map(({ snapshot: _, parsed: _parsed, ...event }) => event);
  expect(rest.map(({ sequence_number, type }) => [sequence_number, type])).toEqual(
    whole.slice(6).map(({ sequence_number, type }) => [sequence_number, type]),
  );
});

test("a running response is cancelled", async () => {
  const client = await clientFor();
  const stream = await client.responses.create({ model: AGENT, input: "/slow 2\n/say one two three", stream: true });
  const events: any[] = [];
  for await (const event of stream) {
    events.push(event);
    if (event.type === "response.created")
      expect(await client.responses.cancel(event.response.id)).toMatchObject({ status: "cancelled", error: null });
  }
  expect(expectStream(events)).toMatchObject({ status: "cancelled", error: null });
  expect(events.at(-1).type).toBe("response.failed");
});

test("a conversation continues with previous_response_id, and its items are listed and deleted", async () => {
  const client = await clientFor({ model: "offline/echo" });
  const first = await client.responses.create({ model: AGENT, input: "one" });
  const second = await client.responses.create({ model: AGENT, input: "two", previous_response_id: first.id });
  const texts = async () =>
    (await client.responses.inputItems.list(second.id)).data.map((item: any) => item.content[0].text);
  expect(await texts()).toEqual(["one", "one", "two"]);
  await client.responses.delete(first.id);
  expect(await texts()).toEqual(["two"]);
});

test("models: the one that the agent uses", async () => {
  const client = await clientFor({ model: "offline/echo" });
  const { data } = await client.models.list();
  expect(data).toMatchObject([{ id: "offline/echo", object: "model" }]);
  expect(await client.models.retrieve("offline/echo")).toEqual(data[0]);
  await expect(client.models.retrieve("offline/scripted")).rejects.toMatchObject({
    status: 404,
    code: "model_not_found",
  });
});

test("a refusal has status, code and field", async () => {
  const client = await clientFor();
  await expect(
    client.responses.create({ model: AGENT, input: "x", tools: [{ type: "web_search" }] }),
  ).rejects.toMatchObject({
    status: 400,
    code: "tools_not_supported_for_agent",
    param: "tools",
  });
});

test("a tool that fails, and a turn that fails", async () => {
  const client = await clientFor({ tools: [TOOL] });
  const { output, status } = await client.responses.create({
    model: AGENT,
    input: `/tool ${TOOL} {"fail":true}\n/say Sorry.`,
  });
  expect(status).toBe("completed");
  expect(output).toMatchObject([{ type: "function_call", status: "incomplete" }, { type: "message" }]);
  const failed = await client.responses.create({ model: AGENT, input: "/fail 400" });
  expect(failed).toMatchObject({ status: "failed", error: { code: "agent_error" }, output: [], output_text: "" });
});
