import { describe, expect, test } from "vitest";
import { clientOf, startService } from "./service.ts";

/* Completions whose key may bring tools that the caller runs (clients with such loops: test/clients). */

const service = await startService();
const closed = clientOf(service, service.credentials.api_key);
const { body } = await closed("POST", `${service.base}/api/auth/login`, service.credentials.admin);
const person = clientOf(service, body.token);
const key: { id: string; key: string } = (
  await person("POST", `${service.base}/api/keys`, { name: "Own tools", client_tools: true })
).body;
const call = clientOf(service, key.key);

const parameters = { type: "object", properties: { city: { type: "string" } } };
const WEATHER = { type: "function", function: { name: "get_weather", parameters } };
const complete = (messages: object[], more: object = {}, headers?: Record<string, string>, client = call) =>
  client("POST", "/chat/completions", { model: "offline/scripted", messages, tools: [WEATHER], ...more }, headers);
const question = { role: "user", content: `/tool get_weather {"city":"Oslo"}` };
const ask = async () => {
  const { body, headers } = await complete([question]);
  const [choice] = body.choices;
  return { choice, id: choice.message.tool_calls[0].id, header: { "x-thread-id": headers.get("x-thread-id")! } };
};
const result = (tool_call_id: string, content = "Rain") => ({ role: "tool", tool_call_id, content });

describe("a completion that calls a client tool", () => {
  test("ends with the call, which its thread stores, and continues with the result", async () => {
    const { choice, id, header } = await ask();
    expect(choice).toMatchObject({
      finish_reason: "tool_calls",
      message: {
        content: "",
        tool_calls: [{ id, type: "function", function: { name: "get_weather", arguments: `{"city":"Oslo"}` } }],
      },
    });
    const { body } = await complete([result(id)], {}, header);
    expect(body.choices[0]).toMatchObject({ finish_reason: "stop", message: { content: "get_weather: Rain" } });
    expect(body.choices[0].message.tool_calls).toBeUndefined();
    const { data } = (await call("GET", `/threads/${header["x-thread-id"]}/messages`)).body;
    expect(data).toMatchObject([
      { role: "user" },
      { role: "assistant", content: "", tool_calls: [{ id }] },
      { role: "tool", tool_call_id: id, content: "Rain" },
      { role: "assistant", content: "get_weather: Rain" },
    ]);
  });

  test("runs once for the same result, in its thread and with the whole conversation", async () => {
    const { choice, id, header } = await ask();
    const once = await complete([result(id)], {}, header);
    expect((await complete([result(id)], {}, header)).body).toEqual(once.body);
    const late = await complete([result(id, "Snow")], {}, header);
    expect([late.status, late.body.error.code, late.body.error.param]).toEqual([
      400,
      "invalid_tool_result",
      "messages",
    ]);
    expect(late.body.error.message).toContain(id);
    const whole = [question, choice.message, result(id)];
    const [first, second] = await Promise.all([complete(whole), complete(whole)]);
    expect(first.body.id).toBe(second.body.id);
    expect(first.body.id).not.toBe(once.body.id);
  });

  test("accepts text parts as a result, and refuses others, because they would be lost", async () => {
    const { id, header } = await ask();
    const image = { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } };
    const send = (...content: object[]) => complete([{ role: "tool", tool_call_id: id, content }], {}, header);
    const { status, body } = await send({ type: "text", text: "See" }, image);
    expect([status, body.error.param, body.error.message]).toEqual([
      400,
      "messages[0].content[1]",
      "messages[0].content[1] must be a text part: a tool's result is text.",
    ]);
    const { body: answer } = await send({ type: "text", text: "Rain" });
    expect(answer.choices[0].message.content).toBe("get_weather: Rain");
  });

  test("requires the call of each result", async () => {
    const { status, body } = await complete([question, result("call_no")]);
    expect([status, body.error.code, body.error.param]).toEqual([
      400,
      "invalid_tool_result",
      "messages[1].tool_call_id",
    ]);
    expect(body.error.message).toContain('"call_no"');
  });
});

describe("a key", () => {
  test("without client_tools refuses client tools and ignores results", async () => {
    const refused = await complete([question], {}, {}, closed);
    expect([refused.status, refused.body.error.code]).toEqual([400, "unknown_tool"]);
    const calls = { role: "assistant", content: null, tool_calls: [{}] };
    const messages = [{ role: "user", content: "/say Hi" }, calls, { role: "tool", content: "x" }];
    const ignored = await complete(messages, { tools: undefined }, {}, closed);
    expect(ignored.body.choices[0].message.content).toBe("Hi");
  });

  test("shows and changes client_tools with immediate effect", async () => {
    const path = `${service.base}/api/keys/${key.id}`;
    expect((await person("PATCH", path, { client_tools: false })).body.client_tools).toBe(false);
    expect((await complete([question])).body.error.code).toBe("unknown_tool");
    expect((await person("PATCH", path, { client_tools: true })).body.client_tools).toBe(true);
    expect((await complete([question])).status).toBe(200);
  });

  test("with client_tools runs a server tool by its name, and leaves a tool with parameters to the client", async () => {
    const named = (name: string, more: object = {}) => ({ type: "function", function: { name, ...more } });
    const both = { role: "user", content: `/tool web_fetch {}\n${question.content}` };
    const servers = await complete([both], { tools: [named("web_fetch"), WEATHER] });
    expect(servers.body.choices[0].message.tool_calls).toMatchObject([{ function: { name: "get_weather" } }]);
    const tools = [named("web_fetch", { parameters }), WEATHER];
    const { body, headers } = await complete([both], { tools });
    const { tool_calls } = body.choices[0].message;
    expect(tool_calls.map((one: any) => one.function.name)).toEqual(["web_fetch", "get_weather"]);
    const results = tool_calls.map((one: any) => result(one.id, one.function.name));
    const done = await complete(results, { tools }, { "x-thread-id": headers.get("x-thread-id")! });
    expect(done.body.choices[0].message.content).toBe("web_fetch: web_fetch\nget_weather: get_weather");
  });

  test("with client_tools advises what to send if one name is in tools twice", async () => {
    const web = { type: "function", function: { name: "web_fetch" } };
    const own = { type: "function", function: { name: "web_fetch", parameters } };
    const { status, body } = await complete([question], { tools: [web, own] });
    expect([status, body.error.code, body.error.param]).toEqual([400, "invalid_tools", "tools[1].function.name"]);
    expect(body.error.message).toContain(
      "with parameters it is your own tool, and without them the server's. Send one.",
    );
  });
});
