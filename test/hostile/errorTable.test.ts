import { describe, expect, test } from "vitest";
import { signIn } from "../http/service.ts";
import { expectRefusal, leavesWell, say, startTarget, UNKNOWN } from "./target.ts";

/* Tests every row of the spec's table of chat errors. */

const target = await startTarget();
leavesWell(() => target);

const tool = (name: unknown, more: object = {}) => ({ tools: [{ type: "function", function: { name } }], ...more });
const user = (...parts: unknown[]) => say(parts);
const image = (url: unknown) => ({ type: "image_url", image_url: { url } });
const file = (fields: unknown) => ({ type: "file", file: fields });
const part = (n = 0, field = "") => `messages[0].content[${n}]${field}`;
const format = (response_format: unknown, more: object = {}) => say("x", { response_format, ...more });
const schema = (json_schema: unknown) => format({ type: "json_schema", json_schema });
const nested = (depth: number): object => (depth === 0 ? {} : { properties: { a: nested(depth - 1) } });
const png = "data:image/png;base64,iVBORw0KGgo=";

type Row = [
  name: string,
  code: string | undefined,
  param: string | null,
  body: unknown,
  headers?: Record<string, string>,
];

const rows: Row[] = [
  ["an unknown model", "model_not_found", "model", say("x", { model: "offline/none" })],
  ["a provider without a credential", "model_not_found", "model", say("x", { model: "anthropic/claude" })],
  ["a model without a provider", "model_not_found", "model", say("x", { model: "echo" })],
  ["a model named like a method", "model_not_found", "model", say("x", { model: "__proto__/constructor" })],
  ["a model with only a slash", "model_not_found", "model", say("x", { model: "/" })],
  [
    "an unknown role",
    "invalid_role",
    "messages[1].role",
    {
      model: "offline/echo",
      messages: [
        { role: "user", content: "x" },
        { role: "wizard", content: "x" },
      ],
    },
  ],
  [
    "a role that is no string",
    "invalid_role",
    "messages[0].role",
    { model: "offline/echo", messages: [{ role: 1, content: "x" }] },
  ],
  [
    "a role in capitals",
    "invalid_role",
    "messages[0].role",
    { model: "offline/echo", messages: [{ role: "USER", content: "x" }] },
  ],
  ["a bad tool_choice", "invalid_tool_choice", "tool_choice", say("x", { tool_choice: "sometimes" })],
  [
    "a tool_choice of another shape",
    "invalid_tool_choice",
    "tool_choice",
    say("x", { tool_choice: { type: "function" } }),
  ],
  ["a tool_choice that is a list", "invalid_tool_choice", "tool_choice", say("x", { tool_choice: [] })],
  [
    "a tool_choice that was not offered",
    "invalid_tool_choice",
    "tool_choice",
    say("x", { tool_choice: { type: "function", function: { name: "web_search" } } }),
  ],
  ["an unknown tool", "unknown_tool", "tools[0].function.name", say("x", tool("make_coffee"))],
  ["a tool named like a method", "unknown_tool", "tools[0].function.name", say("x", tool("constructor"))],
  ["a tool without a name", "unknown_tool", "tools[0].function.name", say("x", tool(undefined))],
  ["a tool that is null", "unknown_tool", "tools[0].function.name", say("x", { tools: [null] })],
  ["a tool that is not configured", "tool_not_configured", "tools[0].function.name", say("x", tool("web_search"))],
  [
    "a search without a collection",
    "tool_not_configured",
    "tools[0].function.name",
    say("x", tool("search_documents")),
  ],
  [
    "an unknown collection",
    "unknown_collection",
    "knowledge.collections",
    say("x", { knowledge: { collections: ["handbook"] } }),
  ],
  ["an unknown format", "invalid_response_format", "response_format.type", format({ type: "yaml" })],
  ["a format that is a string", "invalid_response_format", "response_format", format("json_object")],
  ["a schema without a name", "invalid_response_format", "response_format.json_schema.name", schema({ schema: {} })],
  [
    "a schema with a bad name",
    "invalid_response_format",
    "response_format.json_schema.name",
    schema({ name: "no spaces", schema: {} }),
  ],
  [
    "a schema with a long name",
    "invalid_response_format",
    "response_format.json_schema.name",
    schema({ name: "a".repeat(65), schema: {} }),
  ],
  [
    "a schema that is a list",
    "invalid_response_format",
    "response_format.json_schema.schema",
    schema({ name: "a", schema: [] }),
  ],
  [
    "a schema that is deep",
    "invalid_response_format",
    "response_format.json_schema.schema",
    schema({ name: "a", schema: nested(20) }),
  ],
  [
    "a schema that is wide",
    "invalid_response_format",
    "response_format.json_schema.schema",
    schema({ name: "a", schema: { allOf: Array(10_000).fill({ $ref: "#" }) } }),
  ],
  [
    "a schema with a costly pattern",
    "invalid_response_format",
    "response_format.json_schema.schema",
    schema({ name: "a", schema: { type: "string", pattern: "(a+)+$" } }),
  ],
  [
    "a format where a tool must be called",
    "invalid_response_format",
    "response_format",
    format({ type: "json_object" }, { tool_choice: "required" }),
  ],
  ["a thread id that is not a UUID", "invalid_thread_id", "x-thread-id", say("x"), { "x-thread-id": "abc" }],
  ["an empty thread id", "invalid_thread_id", "x-thread-id", say("x"), { "x-thread-id": "" }],
  ["a thread id with SQL", "invalid_thread_id", "x-thread-id", say("x"), { "x-thread-id": `${UNKNOWN}' or 1=1` }],
  ["two thread ids", "invalid_thread_id", "x-thread-id", say("x"), { "x-thread-id": `${UNKNOWN}, ${UNKNOWN}` }],
  ...[
    "http://127.0.0.1:1/a.png",
    "HTTPS://127.0.0.1:1/a",
    "//127.0.0.1:1/x",
    "file:///etc/passwd",
    " data:image/png;base64,AAAA",
    "",
  ].map(
    (url): Row => [
      `an image at ${JSON.stringify(url)}`,
      "invalid_attachment",
      part(0, ".image_url.url"),
      user(image(url)),
    ],
  ),
  ...[
    "data:,plain",
    "data:image/png,AAAA",
    "data:;base64,AAAA",
    "data:image/png;base64,!!!!",
    "data:image/png;base64,",
    "data:image;base64,AAAA",
  ].map((url): Row => [`an image of ${url}`, "invalid_attachment", part(0, ".image_url.url"), user(image(url))]),
  ["an image whose url is a number", "invalid_attachment", part(0, ".image_url.url"), user(image(1))],
  [
    "an image part that is a string",
    "invalid_attachment",
    part(0, ".image_url.url"),
    user({ type: "image_url", image_url: png }),
  ],
  ["an image part that is empty", "invalid_attachment", part(0, ".image_url.url"), user({ type: "image_url" })],
  [
    "a file at an address",
    "invalid_attachment",
    part(1, ".file.file_data"),
    user({ type: "text", text: "x" }, file({ file_data: "http://127.0.0.1:1/a" })),
  ],
  ["a file without anything", "invalid_attachment", part(0, ".file"), user(file({}))],
  ["a file part that is null", "invalid_attachment", part(0, ".file"), user(file(null))],
  ["a file whose data is a number", "invalid_attachment", part(0, ".file"), user(file({ file_data: 7 }))],
  [
    "a file whose name is a number",
    "invalid_attachment",
    part(0, ".file.filename"),
    user(file({ file_data: "AAAA", filename: 7 })),
  ],
  ["17 attachments", "too_many_attachments", "messages", user(...Array(17).fill(image(png)))],
  [
    "17 ids in attachments",
    "too_many_attachments",
    "attachments",
    { ...say("x"), attachments: Array(17).fill(UNKNOWN) },
  ],
  [
    "17 attachments in two places",
    "too_many_attachments",
    "messages",
    { ...user(...Array(16).fill(image(png))), attachments: [UNKNOWN] },
  ],
  ["no message at all", undefined, "messages", { model: "offline/echo", messages: [] }],
  [
    "only a system message",
    undefined,
    "messages",
    { model: "offline/echo", messages: [{ role: "system", content: "x" }] },
  ],
  [
    "only a tool message",
    undefined,
    "messages",
    { model: "offline/echo", messages: [{ role: "tool", content: "x", tool_call_id: "1" }] },
  ],
  [
    "attachments without a user message",
    undefined,
    "attachments",
    { model: "offline/echo", messages: [{ role: "assistant", content: "x" }], attachments: [UNKNOWN] },
  ],
];

describe("the error table", () => {
  test.each(rows)("has a 400 for %s", async (_name, code, param, body, headers) => {
    expectRefusal(await target.complete(body, headers), 400, code, param);
  });
});

describe("the status 404 is returned for", () => {
  test("a thread, a file and a model that do not exist", async () => {
    expectRefusal(await target.complete(say("x"), { "x-thread-id": UNKNOWN }), 404, "thread_not_found");
    expectRefusal(await target.complete(say("x", { attachments: [UNKNOWN] })), 404, "file_not_found", "attachments[0]");
    expectRefusal(
      await target.complete(user(file({ file_id: UNKNOWN }))),
      404,
      "file_not_found",
      part(0, ".file.file_id"),
    );
    expectRefusal(
      await target.complete(say("x", { attachments: ["' or 1=1 --"] })),
      404,
      "file_not_found",
      "attachments[0]",
    );
    for (const path of [`/files/${UNKNOWN}`, `/files/${UNKNOWN}/content`, "/files/constructor"])
      expectRefusal(await target.send("GET", path), 404, "file_not_found");
    expectRefusal(await target.send("DELETE", `/files/${UNKNOWN}`), 404, "file_not_found");
    for (const id of ["offline/none", "none", "offline%2Fnone", "__proto__/x", "offline/../echo/x", "a".repeat(400)])
      expectRefusal(await target.send("GET", `/models/${id}`), 404, "model_not_found");
  });
});

describe("the status 401:", () => {
  test("each state of a key has its error code", async () => {
    const { platform, credentials, chat, send } = target;
    const session = { authorization: `Bearer ${(await signIn(platform.url, credentials.admin)).token}` };
    const create = async (fields: object) =>
      (await send("POST", `${platform.url}/api/keys`, { name: "k", ...fields }, session)).body as {
        id: string;
        key: string;
      };
    const models = (authorization?: string) =>
      send("GET", "/models", undefined, authorization === undefined ? {} : { authorization });
    const disabled = await create({ enabled: false });
    expectRefusal(await models(`Bearer ${disabled.key}`), 401, "api_key_disabled", null);
    const gone = await create({});
    expect((await models(`Bearer ${gone.key}`)).status).toBe(200);
    await send("DELETE", `${platform.url}/api/keys/${gone.id}`, undefined, session);
    expectRefusal(await models(`Bearer ${gone.key}`), 401, "invalid_api_key", null);
    const expired = await create({ expires_at: new Date(Date.now() + 1_500).toISOString() });
    await expect.poll(async () => (await models(`Bearer ${expired.key}`)).body.error?.code).toBe("expired_api_key");
    expectRefusal(await models(`Bearer ${expired.key}`), 401, "expired_api_key", null);
    const bare = await fetch(`${chat}/models`);
    expect([bare.status, ((await bare.json()) as any).error.code]).toEqual([401, "missing_api_key"]);
    expect(bare.headers.get("www-authenticate")).toBe("Bearer");
  });
});

describe("the status 502 is returned for", () => {
  test.each([false, true])("a provider's refusal, without a code (stream: %s)", async (stream) => {
    expectRefusal(await target.complete(say("/fail 400", { model: "offline/scripted", stream })), 502, undefined, null);
  });
});
