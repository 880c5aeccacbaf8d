import { describe, expect, test } from "vitest";
import { computingTime } from "#test/computingTime.ts";
import { readCompletion } from "./readCompletion.ts";
import { CompletionRequest } from "./schema.ts";

const read = (request: object) =>
  readCompletion(CompletionRequest.parse({ model: "a/b", messages: [{ role: "user", content: "Hi" }], ...request }));
const messages = (...list: object[]) => read({ messages: list });
const refused = (code: string | null) => expect.objectContaining({ errorCode: code, status: 400 });

describe("the messages of a completion", () => {
  test("become instructions for system and developer roles, and are ignored for the tool role", () => {
    const { settings, messages: input } = messages(
      { role: "system", content: "Be kind." },
      { role: "user", content: [{ type: "text", text: "One" }, { type: "odd" }, { type: "text", text: "Two" }] },
      { role: "assistant", content: null, tool_calls: [{}] },
      { role: "tool", content: "ignored", tool_call_id: "x" },
      { role: "assistant", content: "Three" },
      { role: "developer", content: [{ type: "text", text: "Be brief." }] },
    );
    expect(settings.instructions).toBe("Be kind.\n\nBe brief.");
    expect(input).toEqual([
      { role: "user", text: "One\nTwo", files: [] },
      { role: "assistant", text: "Three", files: [] },
    ]);
  });

  test("have files on user messages only, and those of `attachments` on the last of these", () => {
    const part = { type: "file", file: { file_id: "f1" } };
    const { messages: input } = read({
      messages: [
        { role: "user", content: [part] },
        { role: "user", content: "x" },
        { role: "assistant", content: [part, { type: "image_url", image_url: { url: "http://x.example" } }] },
      ],
      attachments: ["f2", "f3"],
    });
    expect(input.map(({ files }) => files.map((file) => file.kind === "stored" && file.file_id))).toEqual([
      ["f1"],
      ["f2", "f3"],
      [],
    ]);
  });

  test.each([
    [null, [{ role: "system", content: "x" }]],
    [null, [{ role: "tool", content: "x" }]],
    [null, []],
    [null, [{ role: "user" }]],
    [null, [{ role: "user", content: [{ type: "text" }] }]],
    ["invalid_role", [{ role: "function", content: "x" }]],
    ["too_many_attachments", [{ role: "user", content: Array(17).fill({ type: "file", file: { file_id: "x" } }) }]],
  ])("are refused with %s: %j", (code, list) => expect(() => messages(...list)).toThrow(refused(code)));

  test("are refused when attachments have no user message", () => {
    expect(() => read({ messages: [{ role: "assistant", content: "x" }], attachments: ["f"] })).toThrow(refused(null));
  });
});

describe("the settings of a completion", () => {
  test("are as sent, and null where nothing was sent", () => {
    expect(read({}).settings).toEqual({
      instructions: null,
      temperature: null,
      top_p: null,
      max_output_tokens: null,
      stop: [],
      seed: null,
      response_format: { type: "text" },
      user: null,
      vars: {},
      tools: [],
      tool_choice: "auto",
      knowledge: null,
    });
    const { settings } = read({
      max_tokens: 5,
      max_completion_tokens: 7,
      stop: "END",
      seed: 3,
      user: "",
      metadata: { a: [1] },
    });
    expect(settings).toMatchObject({ max_output_tokens: 7, stop: ["END"], seed: 3, user: "", vars: { a: [1] } });
  });

  test("hold numbers of 64 bits as numbers that can be stored exactly, equal ones alike", () => {
    const large = { seed: 2 ** 60 + 2 ** 20, max_tokens: 2 ** 60 };
    expect(read(large).settings).toMatchObject({ seed: 2 ** 20, max_output_tokens: Number.MAX_SAFE_INTEGER });
    for (const seed of [Number.MAX_SAFE_INTEGER, -Number.MAX_SAFE_INTEGER, 0])
      expect(read({ seed }).settings.seed).toBe(seed);
  });

  test("treat null as absent", () => {
    const none = Object.fromEntries(
      ["temperature", "stop", "tools", "tool_choice", "response_format", "stream", "user", "metadata"].map((key) => [
        key,
        null,
      ]),
    );
    expect(read(none).settings).toEqual(read({}).settings);
  });
});

describe("the tools and the format of a completion", () => {
  const tools = (...names: unknown[]) => names.map((name) => ({ type: "function", function: { name } }));
  const format = (schema: unknown, name = "x") => ({
    response_format: { type: "json_schema", json_schema: { name, schema } },
  });
  const deep = (levels: number): object => (levels === 0 ? {} : { properties: { a: deep(levels - 1) } });

  test.each([
    ["unknown_tool", { tools: [{ type: "web_search" }] }],
    ["unknown_tool", { tools: [null] }],
    [
      "invalid_tool_choice",
      { tools: tools("web_fetch"), tool_choice: { type: "function", function: { name: "web_search" } } },
    ],
    ["invalid_response_format", { response_format: { type: "text" }, tool_choice: "required" }],
    ["invalid_response_format", format(deep(40))],
    ["invalid_response_format", format({ pattern: "(a+)+$" })],
    ["invalid_response_format", format({ anyOf: Array(10_000).fill({ $ref: "#" }) })],
  ])("are refused with %s: %j", (code, request) => expect(() => read(request)).toThrow(refused(code)));

  test("of another type are refused with the name of the type", () =>
    expect(() => read({ tools: [{ type: "web_search" }] })).toThrow(
      'tools[0].function.name must be the name of a tool. Tools of the type "web_search" are not supported: name a tool',
    ));

  test("offer each tool once, in the order of the request", () => {
    const names = tools("read_document", "search_documents", "read_document");
    expect(read({ tools: names }).settings).toMatchObject({
      tools: ["read_document", "search_documents"],
      tool_choice: "auto",
    });
    const tool_choice = { type: "function", function: { name: "read_document" } };
    expect(read({ tools: names, tool_choice }).settings.tool_choice).toEqual({ name: "read_document" });
    expect(read({ tools: names, tool_choice: "none" }).settings.tool_choice).toBe("none");
  });

  test("keep collections as named; an empty list allows none, and without a list there is no limit", () => {
    expect(read({ knowledge: { collections: ["Guides"] } }).collections).toEqual(["Guides"]);
    expect(read({ knowledge: { collections: [] } }).collections).toEqual([]);
    expect(read({ knowledge: {} }).collections).toBeNull();
  });

  test("accept a plain schema without tools", () => {
    const request = {
      ...format({ type: "object", properties: { a: { type: "string", pattern: "^[a-z]+$" } } }),
      tools: [],
      tool_choice: "auto",
    };
    expect(read(request).settings.response_format).toMatchObject({ type: "json_schema", json_schema: { name: "x" } });
  });

  test("accept a schema without content, as OpenAI does", () =>
    expect(read(format(undefined)).settings.response_format).toEqual({
      type: "json_schema",
      json_schema: { name: "x", schema: {} },
    }));
});

test.each([
  ["description", (text: string) => ({ name: "a", description: text })],
  ["schema", (text: string) => ({ name: "a", schema: { description: text } })],
])("a response format whose %s has 60 MB is refused without writing its JSON", (_field, formatOf) => {
  const format = (length: number) =>
    read({ response_format: { type: "json_schema", json_schema: formatOf("x".repeat(length)) } });
  format(250_000);
  const refuse = () => expect(() => format(60_000_000)).toThrow(refused("invalid_response_format"));
  expect(computingTime(refuse)).toBeLessThan(40);
});
