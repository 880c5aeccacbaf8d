import { describe, expect, test } from "vitest";
import { startPlatform, testDeployment } from "../platform.ts";
import { PNG } from "../clients/deployment.ts";
import { clientOf, UNKNOWN } from "../http/service.ts";
import { agentClient, makeTool, signIn, startAgents, TOOL, type AgentClient } from "./agents.ts";

/* Every row of the Agent API's error table (spec: Errors). */

const agents = await startAgents();
const agent = await agents.open({ model: "offline/echo" });

const refusalOf = ({ status, body }: { status: number; body: any }) => {
  expect(body.error).toEqual({
    message: expect.any(String),
    type: expect.any(String),
    param: body.error.param === null ? null : expect.any(String),
    code: body.error.code,
  });
  return [status, body.error.code ?? null, body.error.param];
};
const routesOf = ({ call }: Pick<AgentClient, "call">, id = UNKNOWN) => ({
  "POST /responses": () => call("POST", "/responses", { input: "x" }),
  "GET /responses/{id}": () => call("GET", `/responses/${id}`),
  "GET /responses/{id}?stream=true": () => call("GET", `/responses/${id}?stream=true`),
  "DELETE /responses/{id}": () => call("DELETE", `/responses/${id}`),
  "POST /responses/{id}/cancel": () => call("POST", `/responses/${id}/cancel`),
  "GET /responses/{id}/input_items": () => call("GET", `/responses/${id}/input_items`),
  "GET /models": () => call("GET", "/models"),
  "GET /models/offline/echo": () => call("GET", "/models/offline/echo"),
});
const ALL = Object.keys(routesOf(agentClient("", "", ""))) as (keyof ReturnType<typeof routesOf>)[];

type Route = (typeof ALL)[number];
const askedAt = (route: Route) => async (client: Pick<AgentClient, "call">, id?: string) =>
  refusalOf(await routesOf(client, id)[route]());

describe.each(ALL)("the route %s", (route) => {
  const asked = askedAt(route);

  test("answers 401 for a credential that is missing, unknown, disabled or expired", async () => {
    const none = await fetch(`${agent.base}/models`);
    expect([none.status, ((await none.json()) as any).error.code]).toEqual([401, "missing_api_key"]);
    const with_ = (key: string) => ({ call: clientOf({ chat: agent.base }, key) });
    expect(await asked(with_("sk-svc-nobody"))).toEqual([401, "invalid_api_key", null]);
    const { id, key } = await agents.key();
    await agents.person.call("PATCH", `/keys/${id}`, { enabled: false });
    expect(await asked(with_(key))).toEqual([401, "api_key_disabled", null]);
    const past = new Date(Date.now() - 1000).toISOString();
    await agents.person.call("PATCH", `/keys/${id}`, { enabled: true, expires_at: past });
    expect(await asked(with_(key))).toEqual([401, "expired_api_key", null]);
  });

  test("answers 400 invalid_agent_id, 404 agent_not_found and 403 agent_api_disabled", async () => {
    const at = (id: string) => asked(agentClient(agents.url, agents.api_key, id));
    expect(await at("first")).toEqual([400, "invalid_agent_id", "agent_id"]);
    expect(await at(UNKNOWN)).toEqual([404, "agent_not_found", "agent_id"]);
    const off = await agents.agent({ api_enabled: false });
    expect(await at(off)).toEqual([403, "agent_api_disabled", "agent_id"]);
    await agents.person.call("DELETE", `/agents/${off}`);
    expect(await at(off)).toEqual([404, "agent_not_found", "agent_id"]);
  });

  test("answers 400 invalid_thread_id for a header that is not a UUID", async () => {
    const { id } = await agent.ask("x");
    const call: AgentClient["call"] = (method, path, body) => agent.call(method, path, body, { "x-thread-id": "t1" });
    expect(await asked({ call }, id)).toEqual([400, "invalid_thread_id", "x-thread-id"]);
  });
});

test.each(ALL.filter((route) => route.includes("{id}")))(
  "%s: 400 invalid_response_id, 404 response_not_found",
  async (route) => {
    const asked = askedAt(route);
    expect(await asked(agent, "resp_1")).toEqual([400, "invalid_response_id", "id"]);
    expect(await asked(agent, `resp_${UNKNOWN}`)).toEqual([404, "response_not_found", "id"]);
    expect(await asked(agent, UNKNOWN)).toEqual([404, "response_not_found", "id"]);
  },
);

const many = (n: number) => Object.fromEntries(Array.from({ length: n }, (_, at) => [`k${at}`, at]));
const user = (...content: object[]) => ({ input: [{ role: "user", content }] });
const text = { type: "input_text", text: "x" };
const TOO_LARGE = Buffer.alloc(25 * 1024 * 1024 + 1).toString("base64");

test.each<[string, string | null, string | null, object]>([
  ["tools", "tools_not_supported_for_agent", "tools", { input: "x", tools: [{ type: "function", name: "f" }] }],
  ["tools of another shape", "tools_not_supported_for_agent", "tools", { input: "x", tools: {} }],
  ["a tool_choice", "tools_not_supported_for_agent", "tool_choice", { input: "x", tool_choice: "none" }],
  [
    "a tool_choice object",
    "tools_not_supported_for_agent",
    "tool_choice",
    { input: "x", tool_choice: { type: "function" } },
  ],
  [
    "JSON mode",
    "unsupported_response_format",
    "text.format.type",
    { input: "x", text: { format: { type: "json_object" } } },
  ],
  [
    "a schema",
    "unsupported_response_format",
    "text.format.type",
    { input: "x", text: { format: { type: "json_schema" } } },
  ],
  ["a format without type", "unsupported_response_format", "text.format.type", { input: "x", text: { format: {} } }],
  ["a text that is a string", null, "text", { input: "x", text: "json" }],
  ["a text that is a list", null, "text", { input: "x", text: [] }],
  ["no input", "invalid_input", "input", {}],
  ["null input", "invalid_input", "input", { input: null }],
  ["a number as the input", "invalid_input", "input", { input: 5 }],
  ["an empty list as the input", "invalid_input", "input", { input: [] }],
  ["an item that is not an object", "invalid_input", "input", { input: ["x"] }],
  ["an empty turn", "invalid_input", "input", { input: " \n" }],
  [
    "an empty last turn",
    "invalid_input",
    "input",
    {
      input: [
        { role: "user", content: "x" },
        { role: "user", content: [] },
      ],
    },
  ],
  ["no user message", "invalid_input", "input", { input: [{ role: "assistant", content: "x" }] }],
  ["only an instruction", "invalid_input", "input", { input: [{ role: "system", content: "x" }] }],
  ["only skipped items", "invalid_input", "input", { input: [{ type: "reasoning", summary: [] }] }],
  [
    "an unknown role",
    "invalid_input",
    "input[1].role",
    {
      input: [
        { role: "user", content: "x" },
        { role: "tool", content: "x" },
      ],
    },
  ],
  ["no role", "invalid_input", "input[0].role", { input: [{ content: "x" }] }],
  ["content that is a number", "invalid_input", "input[0].content", { input: [{ role: "user", content: 5 }] }],
  ["a part without type", "invalid_input", "input[0].content", user({ text: "x" })],
  ["a text part without text", "invalid_input", "input[0].content[0].text", user({ type: "input_text" })],
  ["vars that are no object", "invalid_vars", "vars", { input: "x", vars: [] }],
  ["metadata that is no object", "invalid_vars", "metadata", { input: "x", metadata: "m" }],
  ["33 vars", "invalid_vars", "vars", { input: "x", vars: many(33) }],
  [
    "33 vars after metadata is merged in",
    "invalid_vars",
    "vars",
    { input: "x", vars: many(32), metadata: { more: 1 } },
  ],
  [
    "a previous response that is not an id",
    "invalid_response_id",
    "previous_response_id",
    { input: "x", previous_response_id: "resp_1" },
  ],
  [
    "a previous response that is empty",
    "invalid_response_id",
    "previous_response_id",
    { input: "x", previous_response_id: "" },
  ],
  [
    "a previous response that is a number",
    "invalid_response_id",
    "previous_response_id",
    { input: "x", previous_response_id: 5 },
  ],
  [
    "a remote image",
    "invalid_attachment",
    "input[0].content[0].image_url",
    user({ type: "input_image", image_url: "https://a.example/x.png" }),
  ],
  ["an image without content", "invalid_attachment", "input[0].content[0].image_url", user({ type: "input_image" })],
  [
    "invalid base64",
    "invalid_attachment",
    "input[0].content[0].image_url",
    user({ type: "input_image", image_url: "data:image/png;base64,@@" }),
  ],
  [
    "a file without content",
    "invalid_attachment",
    "input[0].content[0]",
    user({ type: "input_file", filename: "a.txt" }),
  ],
  [
    "a remote file",
    "invalid_attachment",
    "input[0].content[0].file_url",
    user({ type: "input_file", file_url: "https://a.example/x.pdf" }),
  ],
  ["17 attachments", "too_many_attachments", "attachments", { input: "x", attachments: Array(17).fill(UNKNOWN) }],
  [
    "17 parts with images",
    "too_many_attachments",
    "input",
    user(text, ...Array(17).fill({ type: "input_image", image_url: `data:image/png;base64,${PNG}` })),
  ],
  ["a user that is a number", null, "user", { input: "x", user: 5 }],
  ["a stream that is a text", null, "stream", { input: "x", stream: "yes" }],
  ["instructions that are a number", null, "instructions", { input: "x", instructions: 5 }],
  ["an effort that is a number", null, "reasoning.effort", { input: "x", reasoning: { effort: 5 } }],
  ["attachments that are not a list", null, "attachments", { input: "x", attachments: "f" }],
])("a response request is a 400 for %s", async (_, code, param, body) => {
  expect(refusalOf(await agent.post(body))).toEqual([400, code, param]);
  expect(refusalOf(await agent.post({ ...body, ...(!("stream" in body) && { stream: true }) }))).toEqual([
    400,
    code,
    param,
  ]);
});

test("an attachment over 25 MiB is a 400 attachment_too_large", async () => {
  const body = user(text, { type: "input_file", filename: "a.bin", file_data: TOO_LARGE });
  const [status, code] = refusalOf(await agent.post(body));
  expect([status, code]).toEqual([400, "attachment_too_large"]);
});

test("a previous response, a thread or a file that does not exist is a 404", async () => {
  const previous = await agent.post({ input: "x", previous_response_id: UNKNOWN });
  expect(refusalOf(previous)).toEqual([404, "response_not_found", "previous_response_id"]);
  expect(refusalOf(await agent.post({ input: "x" }, { "x-thread-id": UNKNOWN }))).toEqual([
    404,
    "thread_not_found",
    "x-thread-id",
  ]);
  expect(refusalOf(await agent.post({ input: "x", attachments: [UNKNOWN] }))).toEqual([
    404,
    "file_not_found",
    "attachments[0]",
  ]);
});

test("a thread that differs from that of the previous response is a 400", async () => {
  const [one, two] = [await agent.ask("x"), await agent.ask("x")];
  const body = { input: "x", previous_response_id: one.id };
  expect(refusalOf(await agent.post(body, { "x-thread-id": two.thread_id }))).toEqual([
    400,
    "invalid_thread_id",
    "x-thread-id",
  ]);
  expect((await agent.ask("x", { previous_response_id: one.id }, { "x-thread-id": one.thread_id })).thread_id).toBe(
    one.thread_id,
  );
});

test("an agent without a model is a 400 model_not_configured, and an agent whose model is not enabled a 502", async () => {
  const without = await agents.open({ model: null });
  expect(refusalOf(await without.post({ input: "x" }))).toEqual([400, "model_not_configured", "agent_id"]);
  expect((await without.call("GET", "/models")).body).toEqual({ object: "list", data: [] });
  expect(refusalOf(await without.call("GET", "/models/offline/echo"))).toEqual([404, "model_not_found", "model"]);
  for (const model of ["openai/gpt-none", "nobody/model", "nonsense"]) {
    const other = await agents.open({ model });
    expect(refusalOf(await other.post({ input: "x" }))).toEqual([502, null, null]);
  }
});

test("a turn that fails after it started is a 200 with the status failed, its output and its tokens", async () => {
  const failing = await agents.open();
  const refused = await failing.ask("/fail 400");
  expect(refused).toMatchObject({
    status: "failed",
    completed_at: null,
    output: [],
    error: { type: "server_error", code: "agent_error", message: expect.stringContaining("400") },
    usage: { total_tokens: 0 },
  });
  const cut = await failing.ask("/cut\n/say one two three four");
  expect(cut).toMatchObject({ status: "failed", error: { code: "agent_error" } });
  expect(cut.output).toMatchObject([{ type: "message", status: "incomplete", content: [{ text: "one two " }] }]);
  expect(cut.usage.total_tokens).toBeGreaterThan(0);
  const { response } = await failing.stream("/cut\n/say one two three four");
  expect(response).toMatchObject({
    status: "failed",
    error: { code: "agent_error" },
    output: [{ status: "incomplete" }],
  });
  for (const { id } of [refused, cut, response])
    expect((await failing.call("GET", `/responses/${id}`)).body).toEqual(
      [refused, cut, response].find((one) => one.id === id),
    );
});

test("invalid JSON and an unknown path get an answer in the error shape", async () => {
  expect(refusalOf(await agent.call("POST", "/responses", "{"))).toEqual([400, "invalid_json", null]);
  expect(refusalOf(await agent.call("GET", "/nothing"))).toEqual([404, "not_found", null]);
});

test("an agent with a scripted tool answers without the tool if scripted tools are switched off", async () => {
  const deployment = await testDeployment();
  const before = await startPlatform({ deployment });
  const { api_key, admin } = await before.organization();
  const person = await signIn(before.url, admin);
  await makeTool(person);
  const { body } = await person.call("POST", "/agents", {
    name: "A",
    model: "offline/scripted",
    tools: [TOOL, "web_fetch"],
  });
  await before.stop();
  const { url } = await startPlatform({ deployment, env: { SCRIPTED_TOOLS: "off" } });
  const response = await agentClient(url, api_key, body.id).ask(`/tool ${TOOL} {}\n/say All the same.`);
  expect(response.output).toMatchObject([
    { name: TOOL, status: "incomplete" },
    { content: [{ text: "All the same." }] },
  ]);
});
