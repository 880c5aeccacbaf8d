import OpenAI from "openai";
import { beforeEach, describe, expect, test } from "vitest";
import { startAgents, TOOL } from "./agents.ts";
import { PNG } from "../clients/deployment.ts";
import { checkedFetch } from "./checkedFetch.ts";

/* Tools that the caller of an agent brings and runs itself, next to the agent's own. */

const agents = await startAgents();
const agent = await agents.open({ tools: [TOOL], client_tools: true });

let before: number;
beforeEach(async () => {
  before = await agents.count("TurnStarted");
});
const begun = async (): Promise<number> => (await agents.count("TurnStarted")) - before;

const parameters = { type: "object", properties: { city: { type: "string" } } };
const WEATHER = { type: "function", name: "get_weather", description: "The weather of a city.", parameters };
const tools = [WEATHER];
const ASK = `/tool get_weather {"city":"Oslo"}`;
const result = (call_id: string, output: unknown = "Rain") => ({ type: "function_call_output", call_id, output });
const callsOf = (response: any): any[] => response.output.filter(({ type }: any) => type === "function_call");
const callIn = (response: any, name = "get_weather") => callsOf(response).find((call) => call.name === name);

describe("a call of a client tool", () => {
  test("ends the response, and the result continues the thread", async () => {
    const first = await agent.ask(ASK, { tools });
    expect(first).toMatchObject({ status: "completed", tools: [], tool_choice: "auto" });
    expect(first.output).toEqual([
      {
        type: "function_call",
        id: expect.stringMatching(/^fc_/),
        call_id: expect.any(String),
        name: "get_weather",
        arguments: `{"city":"Oslo"}`,
        status: "completed",
      },
    ]);
    expect((await agent.call("GET", `/responses/${first.id}`)).body).toEqual(first);
    const { call_id } = first.output[0];
    const second = await agent.ask([result(call_id)], { tools, previous_response_id: first.id });
    expect(second.thread_id).toBe(first.thread_id);
    expect(second.output).toMatchObject([{ type: "message", content: [{ text: "get_weather: Rain" }] }]);
    expect(await begun()).toBe(2);
    const { data } = (await agent.call("GET", `/responses/${second.id}/input_items`)).body;
    expect(data).toMatchObject([
      { type: "message", role: "user" },
      { type: "function_call", call_id, name: "get_weather" },
      { type: "function_call_output", call_id, output: "Rain" },
    ]);
  });

  test("ends the stream, which can be read again", async () => {
    const { events, response } = await agent.stream(`/reason Hm.\n${ASK}`, { tools });
    expect(response.output).toMatchObject([{ type: "function_call", status: "completed" }]);
    expect(events.map(({ type }) => type)).toEqual([
      "response.created",
      "response.in_progress",
      "response.output_item.added",
      "response.function_call_arguments.delta",
      "response.function_call_arguments.done",
      "response.output_item.done",
      "response.completed",
    ]);
    expect(await agent.resume(response.id)).toEqual(events);
    const more = { tools, previous_response_id: response.id };
    const { response: last } = await agent.stream([result(callIn(response).call_id, "Sun")], more);
    expect(last.output.at(-1)).toMatchObject({ type: "message", content: [{ text: "get_weather: Sun" }] });
  });

  test("waits for the server's calls of its round, and the model gets all results", async () => {
    const both = `/tool ${TOOL} {"text":"here"}\n${ASK}`;
    const first = await agent.ask(both, { tools });
    expect(callsOf(first).map(({ name, status }) => [name, status])).toEqual([
      [TOOL, "completed"],
      ["get_weather", "completed"],
    ]);
    const ran = await agents.count("ToolFinished");
    const more = { tools, previous_response_id: first.id };
    const second = await agent.ask([result(callIn(first).call_id)], more);
    expect(second.output[0].content[0].text).toBe(`${TOOL}: {"text":"here","vars":{}}\nget_weather: Rain`);
    expect(await agents.count("ToolFinished")).toBe(ran);
  });

  test("is visible even if the server's calls are hidden", async () => {
    const hiding = await agents.open({ tools: [TOOL], client_tools: true, expose_tool_items: false });
    const { response } = await hiding.stream(`/tool ${TOOL} {}\n${ASK}\n/tool ${TOOL} {}`, { tools });
    expect(response.output).toMatchObject([{ type: "function_call", name: "get_weather", status: "completed" }]);
  });

  test.each(["codex_exec/0.171.0 (Debian 12.0.0; x86_64)", "codex-tui/0.171.0", "Codex Desktop/1.2.0"])(
    "is the only kind of call that %s receives, because it would run the server's calls as well",
    async (name) => {
      const tooled = await agents.open({ tools: [TOOL], client_tools: true });
      const asked = { tools, stream: false };
      const response = await tooled.ask(`/tool ${TOOL} {}\n${ASK}`, asked, { "user-agent": name });
      expect(callsOf(response).map(({ name }) => name)).toEqual(["get_weather"]);
    },
  );

  test("reaches the model and returns from it in the provider's format", async () => {
    const other = await agents.open({ model: "openai/gpt-test", tools: [TOOL], client_tools: true });
    const calls = [
      { name: TOOL, arguments: { text: "x" } },
      { name: "get_weather", arguments: { city: "Oslo" } },
    ];
    agents.answers({ text: "Let me look.", tool_calls: calls }, { text: "It rains." });
    const first = await other.ask("How is it in Oslo?", { tools });
    expect(agents.asked().tools.map((tool: any) => tool.function.name)).toEqual([TOOL, "get_weather"]);
    expect(agents.asked().tools[1].function).toEqual({
      name: "get_weather",
      description: WEATHER.description,
      parameters,
    });
    const { call_id } = callIn(first);
    const second = await other.ask([result(call_id, [{ type: "input_text", text: "Rain" }])], {
      tools,
      previous_response_id: first.id,
    });
    expect(second.output.at(-1).content[0].text).toBe("It rains.");
    expect(agents.calls()).toBe(2);
    expect(agents.asked().messages).toMatchObject([
      { role: "user", content: "How is it in Oslo?" },
      { role: "assistant", content: "Let me look.", tool_calls: [{ function: { name: TOOL } }, { id: call_id }] },
      { role: "tool", content: expect.stringContaining(`"text":"x"`) },
      { role: "tool", tool_call_id: call_id, content: "Rain" },
    ]);
  });
});

test("a picture in the result of a client tool reaches the model after the result, and in later turns", async () => {
  const other = await agents.open({ model: "openai/gpt-test", client_tools: true });
  agents.answers({ tool_calls: [{ name: "get_weather", arguments: {} }] }, { text: "It rains." }, { text: "Yes." });
  const first = await other.ask("Weather?", { tools });
  const image_url = `data:image/png;base64,${PNG}`;
  const output = [
    { type: "input_text", text: "See" },
    { type: "input_image", image_url, detail: "auto" },
  ];
  const second = await other.ask([result(callIn(first).call_id, output)], { tools, previous_response_id: first.id });
  const seen = [
    { role: "tool", content: "See" },
    { role: "user", content: [{ type: "text" }, { type: "image_url", image_url: { url: image_url } }] },
  ];
  expect(agents.asked().messages.slice(-2)).toMatchObject(seen);
  await other.ask("Sure?", { tools, previous_response_id: second.id });
  expect(agents.asked().messages.slice(2, 4)).toMatchObject(seen);
});

describe("results of client tools", () => {
  const open = async () => {
    const response = await agent.ask(ASK, { tools });
    return { previous_response_id: response.id, call_id: callIn(response).call_id, thread_id: response.thread_id };
  };
  const refusal = async (input: unknown, more: object, headers?: Record<string, string>) => {
    const { status, body } = await agent.post({ input, tools, ...more }, headers);
    return { status, ...body.error };
  };

  test("start one model run even if they are sent again, concurrently or under a key", async () => {
    const { call_id, previous_response_id } = await open();
    const send = (headers?: Record<string, string>) =>
      agent.ask([result(call_id)], { tools, previous_response_id }, headers);
    const answers = await Promise.all([send(), send(), send()]);
    answers.push(await send(), await send({ "x-stainless-retry-count": "1" }));
    expect(new Set(answers.map(({ id }) => id)).size).toBe(1);
    expect(await begun()).toBe(2);
    const next = await open();
    const key = { "idempotency-key": "own-1" };
    const more = { tools, previous_response_id: next.previous_response_id };
    const keyed = await agent.ask([result(next.call_id)], more, key);
    expect(await agent.ask([result(next.call_id)], more, key)).toEqual(keyed);
    expect(await begun()).toBe(4);
  });

  test("are refused if their call is unknown, already answered, or not the only open one", async () => {
    const unknown = await refusal([result("call_no")], { previous_response_id: (await open()).previous_response_id });
    expect(unknown).toMatchObject({ status: 400, code: "invalid_tool_result", param: "input" });
    expect(unknown.message).toContain('"call_no"');
    const alone = await refusal([result("call_no")], {});
    expect(alone).toMatchObject({ status: 400, code: "invalid_tool_result", param: "input[0].call_id" });
    expect(alone.message).toContain('"call_no"');
    const { call_id, previous_response_id } = await open();
    await agent.ask([result(call_id)], { tools, previous_response_id });
    const late = await refusal([result(call_id, "Snow")], { previous_response_id });
    expect(late).toMatchObject({ status: 400, code: "invalid_tool_result" });
    expect(late.message).toContain(call_id);
    const two = await agent.ask(`${ASK}\n/tool get_weather {"city":"Bergen"}`, { tools });
    const [one, other] = callsOf(two);
    const part = await refusal([result(one.call_id)], { previous_response_id: two.id });
    expect(part.message).toContain(other.call_id);
    const whole = [result(one.call_id, "A"), result(other.call_id, "B")];
    const done = await agent.ask(whole, { tools, previous_response_id: two.id });
    expect(done.output[0].content[0].text).toBe("get_weather: A\nget_weather: B");
  });

  test("that contradict each other are refused, in a thread and in a whole conversation; identical ones may repeat", async () => {
    const { call_id, previous_response_id } = await open();
    const twice = [result(call_id, "Rain"), result(call_id, "Snow")];
    const call = { type: "function_call", call_id, name: "get_weather", arguments: "{}" };
    const whole = [{ role: "user", content: ASK }, call, ...twice];
    for (const [input, more] of [
      [twice, { previous_response_id }],
      [whole, {}],
    ] as const) {
      const refused = await refusal(input, more);
      expect(refused).toMatchObject({ status: 400, code: "invalid_tool_result" });
      expect(refused.param).toBe(`input[${input.length - 1}].call_id`);
      expect(refused.message).toContain(call_id);
    }
    const same = [result(call_id, "Rain"), result(call_id, "Rain")];
    expect((await agent.ask(same, { tools, previous_response_id })).status).toBe("completed");
  });

  test("belong to one call each, even if the provider gives two calls the same id", async () => {
    const other = await agents.open({ model: "openai/gpt-test", client_tools: true });
    const call = (city: string) => ({ name: "get_weather", arguments: { city }, id: "same" });
    agents.answers({ tool_calls: [call("Oslo"), call("Bergen")] }, { text: "Both." });
    const first = await other.ask("Weather in both?", { tools });
    const input = callsOf(first).map((item: any) => result(item.call_id, JSON.parse(item.arguments).city));
    await other.ask(input, { tools, previous_response_id: first.id });
    expect(
      agents
        .asked()
        .messages.slice(-2)
        .map(({ content }: any) => content),
    ).toEqual(["Oslo", "Bergen"]);
  });

  test("may be missing, and the model reads that the caller continued without them", async () => {
    const { previous_response_id, call_id } = await open();
    const other = await agents.open({ model: "openai/gpt-test", client_tools: true });
    agents.answers({ tool_calls: [{ name: "get_weather", arguments: {} }] }, { text: "As you like." });
    const first = await other.ask("Weather?", { tools });
    await other.ask("Never mind.", { tools, previous_response_id: first.id });
    expect(agents.asked().messages.slice(1)).toMatchObject([
      { role: "assistant", tool_calls: [{ id: callIn(first).call_id }] },
      { role: "tool", tool_call_id: callIn(first).call_id, content: expect.stringContaining("went on") },
      { role: "user", content: "Never mind." },
    ]);
    await agent.ask("/say On", { tools, previous_response_id });
    expect(await refusal([result(call_id)], { previous_response_id })).toMatchObject({ code: "invalid_tool_result" });
  });

  test("may be sent again after the turn that they started has failed", async () => {
    const other = await agents.open({ model: "openai/gpt-test", client_tools: true });
    agents.answers({ tool_calls: [{ name: "get_weather", arguments: {} }] }, { status: 400 }, { text: "It rains." });
    const first = await other.ask("Weather?", { tools });
    const input = [result(callIn(first).call_id)];
    const more = { tools, previous_response_id: first.id };
    expect((await other.ask(input, more)).status).toBe("failed");
    const done = await other.ask(input, more);
    expect(done.output.at(-1).content[0].text).toBe("It rains.");
    expect(agents.asked().messages.map(({ role }: any) => role)).toEqual(["user", "assistant", "tool"]);
    expect((await other.ask(input, more)).id).toBe(done.id);
  });

  test("may come with the whole conversation in a new thread, which skips calls that ran on the server", async () => {
    const first = await agent.ask(`/tool ${TOOL} {}\n${ASK}`, { tools });
    const input = [
      { role: "user", content: `/tool ${TOOL} {}\n${ASK}` },
      ...first.output,
      result(callIn(first, TOOL).call_id, "no such tool"),
      result(callIn(first).call_id, "Fog"),
    ];
    const second = await agent.ask(input, { tools });
    expect(second.thread_id).not.toBe(first.thread_id);
    expect(second.output[0].content[0].text).toBe("get_weather: Fog");
    expect((await agent.ask(input, { tools })).id).toBe(second.id);
    expect(await begun()).toBe(2);
  });

  test("are not mistaken for results of tools that ran on the server, in either order", async () => {
    for (const names of [
      ["get_weather", TOOL],
      [TOOL, "get_weather"],
    ]) {
      const first = await agent.ask(`/tool ${TOOL} {}\n${ASK}`, { tools });
      const input = names.map((name) => result(callIn(first, name).call_id, name));
      const second = await agent.ask(input, { tools, previous_response_id: first.id });
      expect(second.output[0].content[0].text).toContain("get_weather: get_weather");
      expect(second.output[0].content[0].text).not.toContain(`${TOOL}: ${TOOL}`);
    }
  });
});

describe("client tools", () => {
  test.each<[string, object, string]>([
    ["with the name of a tool of the agent", { tools: [{ ...WEATHER, name: TOOL }] }, "tools[0].name"],
    ["with one name twice", { tools: [WEATHER, WEATHER] }, "tools[1].name"],
    ["without a name", { tools: [{ type: "function" }] }, "tools[0].name"],
    ["of another type", { tools: [{ type: "web_search" }] }, "tools[0].type"],
    ["that are no list", { tools: {} }, "tools"],
    ["whose parameters are no schema", { tools: [{ ...WEATHER, parameters: [] }] }, "tools[0].parameters"],
    [
      "whose parameters are large",
      { tools: [{ ...WEATHER, parameters: { enum: Array(5_001).fill(0) } }] },
      "tools[0].parameters",
    ],
    ["of too many bytes", { tools: [{ ...WEATHER, description: "x".repeat(262_144) }] }, "tools"],
    ["that are too many", { tools: Array.from({ length: 129 }, (_, n) => ({ ...WEATHER, name: `t${n}` })) }, "tools"],
  ])("are refused: %s", async (_, more, param) => {
    const { status, body } = await agent.post({ input: "Hi", ...more });
    expect([status, body.error.code, body.error.param]).toEqual([400, "invalid_tools", param]);
    expect(await begun()).toBe(0);
  });

  test("may have the name of a built-in tool that the agent does not have", async () => {
    const own = [{ ...WEATHER, name: "web_fetch" }];
    const first = await agent.ask(`/tool web_fetch {"city":"Oslo"}`, { tools: own });
    const { call_id } = callIn(first, "web_fetch");
    const input = [
      { role: "user", content: `/tool web_fetch {"city":"Oslo"}` },
      ...first.output,
      result(call_id, "Fog"),
    ];
    expect((await agent.ask(input, { tools: own })).output[0].content[0].text).toBe("web_fetch: Fog");
    const second = await agent.ask([result(call_id)], { tools: own, previous_response_id: first.id });
    expect(second.output[0].content[0].text).toBe("web_fetch: Rain");
  });

  test("with the name of one of the agent's tools are refused with a hint", async () => {
    const { body } = await agent.post({ input: "Hi", tools: [{ ...WEATHER, name: TOOL }] });
    expect(body.error.message).toContain("leave it out of the request, or take it from the agent.");
  });

  test("of another type are refused by the name of the type, which some clients send by default", async () => {
    const namespace = { type: "namespace", name: "multi_agent", tools: [WEATHER] };
    const { body } = await agent.post({ input: "Hi", tools: [WEATHER, namespace] });
    expect(body.error).toMatchObject({
      param: "tools[1].type",
      message: expect.stringContaining('"namespace" are not supported: switch them off in the client'),
    });
  });

  test("follow tool_choice", async () => {
    const none = await agent.ask(`${ASK}\n/say No tools`, { tools, tool_choice: "none" });
    expect(none.output).toMatchObject([{ type: "message" }]);
    const named = { type: "function", name: "get_weather" };
    expect(callsOf(await agent.ask(ASK, { tools, tool_choice: named }))).toHaveLength(1);
    const { status, body } = await agent.post({ input: "Hi", tools, tool_choice: { type: "function", name: "x" } });
    expect([status, body.error.code]).toEqual([400, "invalid_tool_choice"]);
  });

  test("are refused by an agent that does not allow them", async () => {
    const closed = await agents.open({ tools: [TOOL] });
    const { status, body } = await closed.post({ input: "Hi", tools });
    expect([status, body.error.code, body.error.param]).toEqual([400, "tools_not_supported_for_agent", "tools"]);
    const choice = await closed.post({ input: "Hi", tool_choice: "auto" });
    expect(choice.body.error.code).toBe("tools_not_supported_for_agent");
    const id = await agents.agent({});
    const read = async () => (await agents.person.call("GET", `/agents/${id}`)).body.client_tools;
    expect(await read()).toBe(false);
    await agents.person.call("PATCH", `/agents/${id}`, { client_tools: true });
    expect(await read()).toBe(true);
  });
});

test("the openai client runs its own tool in a loop, buffered and streamed", async () => {
  const client = new OpenAI({ apiKey: agents.api_key, baseURL: agent.base, maxRetries: 0, fetch: checkedFetch });
  const own = [{ ...WEATHER, type: "function" as const, strict: false }];
  const whole = await client.responses.create({ model: "any", input: ASK, tools: own });
  const [call] = whole.output;
  if (call?.type !== "function_call") throw new Error("no call");
  const stream = client.responses.stream({
    model: "any",
    input: [{ type: "function_call_output", call_id: call.call_id, output: "Hail" }],
    previous_response_id: whole.id,
    tools: own,
  });
  expect((await stream.finalResponse()).output_text).toBe("get_weather: Hail");
});
