import { describe, expect, test } from "vitest";
import { agentClient, startAgents, TOOL } from "./agents.ts";

const agents = await startAgents();
const agent = await agents.open({ model: "offline/echo", tools: [] });

const itemsOf = async ({ id }: { id: string }, client = agent) =>
  (await client.call("GET", `/responses/${id}/input_items`)).body;
const textsOf = async (response: { id: string }, client = agent) =>
  (await itemsOf(response, client)).data.map(({ role, content }: any) => `${role}: ${content[0].text}`);

describe("the input items of a response", () => {
  test("are the messages of the thread before the response, in one list", async () => {
    const first = await agent.ask("one");
    const second = await agent.ask(
      [
        { role: "assistant", content: "said" },
        { role: "user", content: "two" },
      ],
      {
        previous_response_id: first.id,
      },
    );
    await agent.ask("three", { previous_response_id: second.id });
    const list = await itemsOf(second);
    const ids = list.data.map(({ id }: any) => id);
    expect(list).toEqual({
      object: "list",
      data: ["one", "one", "said", "two"].map((text, n) => ({
        id: ids[n],
        type: "message",
        role: ["user", "assistant", "assistant", "user"][n],
        content: [{ type: "input_text", text }],
      })),
      first_id: ids[0],
      last_id: ids[3],
      has_more: false,
    });
    expect(new Set(ids).size).toBe(4);
    for (const id of ids) expect(id).toMatch(/^msg_/);
    expect(await itemsOf(second)).toEqual(list);
  });

  test("include the newest messages of the thread, even if an older response is continued", async () => {
    const first = await agent.ask("one");
    await agent.ask("two", { previous_response_id: first.id });
    const late = await agent.ask("three", { previous_response_id: first.id });
    expect(late.previous_response_id).toBe(first.id);
    expect(await textsOf(late)).toEqual(["user: one", "assistant: one", "user: two", "assistant: two", "user: three"]);
  });
});

describe("a deleted response", () => {
  test("disappears with its turn from the thread, the history and the lists", async () => {
    const model = await agents.open({ model: "openai/gpt-test" });
    agents.answers();
    const first = await model.ask("I am Ada");
    const second = await model.ask("I live in Delft", { previous_response_id: first.id });
    const gone = await model.call("DELETE", `/responses/${first.id}`);
    expect([gone.status, gone.body]).toEqual([200, { id: first.id, object: "response", deleted: true }]);
    for (const path of ["", "/input_items", "?stream=true"])
      expect((await model.call("GET", `/responses/${first.id}${path}`)).body.error.code).toBe("response_not_found");
    expect((await model.call("DELETE", `/responses/${first.id}`)).status).toBe(404);
    expect((await model.post({ input: "x", previous_response_id: first.id })).status).toBe(404);
    expect(await textsOf(second, model)).toEqual(["user: I live in Delft"]);
    const third = await model.ask("And I?", { previous_response_id: second.id });
    expect(JSON.stringify(agents.asked().messages)).not.toContain("Ada");
    expect(third.thread_id).toBe(first.thread_id);
  });

  test("leaves no thread to continue if it was the only one", async () => {
    const { id, thread_id } = await agent.ask("alone");
    await agent.call("DELETE", `/responses/${id}`);
    const next = await agent.post({ input: "x" }, { "x-thread-id": thread_id });
    expect([next.status, next.body.error.code]).toEqual([404, "thread_not_found"]);
  });

  test("is cancelled first if it is running, and its reader receives the end", async () => {
    const scripted = await agents.open();
    let deleted: Promise<unknown> | undefined;
    const events = await scripted.some(
      "/responses",
      { input: "/slow 1\n/say one two three four", stream: true },
      (seen) => {
        deleted ??= scripted.call("DELETE", `/responses/${seen[0].response.id}`);
        return false;
      },
    );
    expect(await deleted).toMatchObject({ status: 200, body: { deleted: true } });
    expect(events.at(-1)).toMatchObject({ type: "response.failed", response: { status: "cancelled" } });
  });
});

test("the settings of an agent and the vars of its thread may exceed the size of a command", async () => {
  const wordy = await agents.open({ model: "offline/echo", instructions: "詳".repeat(60_000) });
  expect((await wordy.ask("Short")).output[0].content[0].text).toBe("Short");
  const vars = { long: "x".repeat(600_000) };
  const { id } = await wordy.ask("First", { vars });
  expect(await wordy.ask("Second", { previous_response_id: id })).toMatchObject({
    status: "completed",
    metadata: vars,
  });
});

describe("an agent that changes", () => {
  test("answers with its newest settings, and each response keeps the version it ran on", async () => {
    const id = await agents.agent({ model: "openai/gpt-test", instructions: "Version one." });
    const client = agentClient(agents.url, agents.api_key, id);
    const change = (settings: object) => agents.person.call("PATCH", `/agents/${id}`, settings);
    agents.answers();
    const first = await client.ask("x");
    expect(agents.asked().messages[0].content).toBe("Version one.");
    expect((await change({ instructions: "Version two.", model: "openai/gpt-other" })).body.version).toBe(2);
    const second = await client.ask("y", { previous_response_id: first.id });
    expect([first.model, second.model]).toEqual(["openai/gpt-test", "openai/gpt-other"]);
    expect(agents.asked().messages[0].content).toBe("Version two.");
    expect((await client.call("GET", `/responses/${first.id}`)).body).toEqual(first);
    const rows = await agents.db.query<{ data: string }>(
      "select data from log.events where type = 'TurnStarted' order by position desc limit 2",
    );
    expect(rows.map(({ data }) => JSON.parse(data).agent)).toMatchObject([
      { agent_id: id, version: 2 },
      { agent_id: id, version: 1 },
    ]);
  });

  test("and now hides its tools still shows the tools of earlier responses", async () => {
    const id = await agents.agent({ tools: [TOOL] });
    const client = agentClient(agents.url, agents.api_key, id);
    const types = ({ output }: any) => output.map(({ type }: { type: string }) => type);
    const before = await client.ask(`/tool ${TOOL} {}`);
    await agents.person.call("PATCH", `/agents/${id}`, { expose_tool_items: false });
    const { response } = await client.stream(`/tool ${TOOL} {}`);
    expect([types(before), types(response)]).toEqual([["function_call", "message"], ["message"]]);
    expect((await client.call("GET", `/responses/${before.id}`)).body).toEqual(before);
  });

  test("or is deleted during an answer still completes the turn", async () => {
    const id = await agents.agent();
    const client = agentClient(agents.url, agents.api_key, id);
    const before = await agents.count("TurnStarted");
    const asked = client.stream("/slow 0.5\n/say one two three");
    await expect.poll(() => agents.count("TurnStarted")).toBe(before + 1);
    expect((await agents.person.call("DELETE", `/agents/${id}`)).status).toBe(204);
    expect((await asked).response.status).toBe("completed");
    expect((await client.post({ input: "x" })).body.error.code).toBe("agent_not_found");
  });
});

describe("tool calls of a response", () => {
  test("are items in their rounds, buffered and streamed alike", async () => {
    const client = await agents.open({ tools: [TOOL] });
    const input = `/reason Let me see.\n/tool ${TOOL} {"text":"a"}\n/tool ${TOOL} {"fail":true}\n/tool ghost {}\n/rounds 2\n/say So.`;
    const { response } = await client.stream(input);
    const call = (name: string, args: string, status: string) => ({
      type: "function_call",
      name,
      arguments: args,
      status,
    });
    const round = [
      call(TOOL, '{"text":"a"}', "completed"),
      call(TOOL, '{"fail":true}', "incomplete"),
      call("ghost", "{}", "incomplete"),
    ];
    expect(response.output).toMatchObject([
      ...round,
      ...round,
      { type: "reasoning" },
      { type: "message", content: [{ text: "So." }] },
    ]);
    expect((await client.call("GET", `/responses/${response.id}`)).body).toEqual(response);
    const whole = await client.ask(input);
    const shapes = (output: any[]) => output.map(({ id: _, call_id: _call, ...rest }) => rest);
    expect(shapes(whole.output)).toEqual(shapes(response.output));
  });

  test("stop after ten rounds, with an empty message", async () => {
    const client = await agents.open({ tools: [TOOL] });
    const { response } = await client.stream(`/tool ${TOOL} {}\n/rounds 99`);
    expect(response.status).toBe("completed");
    expect(response.output).toHaveLength(11);
    expect(response.output.at(-1)).toMatchObject({ type: "message", content: [{ text: "" }] });
  });

  test("separate the messages of rounds with text, each with its own citations", async () => {
    const client = await agents.open({ model: "openai/gpt-test", tools: [TOOL] });
    const annotations = [
      {
        type: "url_citation",
        url_citation: { url: "https://example.org/a", title: "A", start_index: 0, end_index: 4 },
      },
    ];
    const replies = [
      { text: "Let me look.", reasoning: "Hm.", annotations, tool_calls: [{ name: TOOL, arguments: {} }] },
      { text: "Found it." },
    ];
    agents.answers(...replies);
    const { response } = await client.stream("x");
    const [, first, , second] = response.output;
    expect(response.output.map(({ type }: any) => type)).toEqual(["reasoning", "message", "function_call", "message"]);
    expect([first.content[0].text, second.content[0].text]).toEqual(["Let me look.", "Found it."]);
    expect(first.content[0].annotations).toMatchObject([
      { url: "https://example.org/a", start_index: 0, end_index: 12 },
    ]);
    expect(second.content[0].annotations).toEqual([]);
    expect(response.usage).toMatchObject({ input_tokens: 24, output_tokens: 14, total_tokens: 38 });
    expect((await client.call("GET", `/responses/${response.id}`)).body).toEqual(response);
    expect((await itemsOf(await client.ask("y", { previous_response_id: response.id }), client)).data).toHaveLength(3);
  });

  test("whose results a client sends back get the message of their response, and no turn starts", async () => {
    const client = await agents.open({ tools: [TOOL] });
    const first = await client.ask(`/reason Hm.\n/tool ${TOOL} {}\n/say Said.`);
    const { call_id } = first.output[0];
    const input = [
      { role: "user", content: "x" },
      { type: "function_call_output", call_id, output: "{}" },
    ];
    const turns = await agents.count("TurnStarted");
    const again = await client.ask(input, { previous_response_id: first.id });
    expect(again).toMatchObject({
      id: first.id,
      status: "completed",
      output: [{ type: "message", content: [{ text: "Said." }] }],
    });
    expect(again.output).toHaveLength(1);
    const { response } = await client.stream(input);
    expect(response).toEqual(again);
    expect(await agents.count("TurnStarted")).toBe(turns);

    expect((await client.ask([...input, { role: "user", content: "/say More" }])).output.at(-1).content[0].text).toBe(
      "More",
    );
    expect((await client.ask(input, { user: "bob" })).id).not.toBe(first.id);
    const other = await agents.open({ tools: [TOOL] });
    expect((await other.ask(input)).id).not.toBe(first.id);
  });

  test("whose results a client sends back during their turn get the answer at its end", async () => {
    const client = await agents.open({ tools: [TOOL] });
    const input = `/slow 0.3\n/tool ${TOOL} {}\n/say one two three`;
    const seen = await client.some("/responses", { input, stream: true }, (events) =>
      events.some(({ type }) => type === "response.function_call_arguments.done"),
    );
    const turns = await agents.count("TurnStarted");
    const { call_id } = seen.find(({ item }) => item).item;
    const again = await client.ask([{ type: "function_call_output", call_id, output: "{}" }]);
    expect(again).toMatchObject({ id: seen[0].response.id, status: "completed", output: [{ type: "message" }] });
    expect(await agents.count("TurnStarted")).toBe(turns);
  });
});
