import { describe, expect, test } from "vitest";
import type { ModelMessage, ModelRequest } from "#services/turns/model.ts";
import { GOOGLE } from "#test/doubles/google/dialect.ts";
import { collectEvents, collectFailure, filePart, modelRequest, tool } from "#test/doubles/modelRequest.ts";
import { useDouble } from "#test/doubles/useDouble.ts";

/* The body of a request. The double refuses what the API refuses. */

const { double, open, request, wireBody: body } = useDouble(GOOGLE);
const declared = (name: string) => {
  const { parameters, ...others } = tool(name);
  return { ...others, parametersJsonSchema: parameters };
};

test("a request has what was asked for and nothing else", async () => {
  const contents = [{ role: "user", parts: [{ text: "Hello" }] }];
  const model = "gemma-4-27b-it";
  expect(await body({ model })).toEqual({ contents, generationConfig: {} });
  expect(double().prompts().at(-1)!.path).toBe(`/v1beta/models/${model}:streamGenerateContent?alt=sse`);
  const more = { temperature: 0.5, top_p: 0.9, max_output_tokens: 50, stop: ["END"], seed: 7 };
  expect(await body({ ...more, model, instructions: "Be brief.", user: "ann" })).toEqual({
    contents,
    systemInstruction: { role: "user", parts: [{ text: "Be brief." }] },
    generationConfig: { temperature: 0.5, topP: 0.9, maxOutputTokens: 50, stopSequences: ["END"], seed: 7 },
  });
});

test("a limit is at most the model's, and a seed has 32 bits", async () => {
  const { generationConfig } = await body({ max_output_tokens: 1_000_000, seed: 2 ** 40 + 5 });
  expect(generationConfig).toMatchObject({ maxOutputTokens: 65_536, seed: 5 });
});

test.each(["../files", "a%2e%2e", "a?b", "a#b", "", "a/", "gemini 4"])(
  "a model named %j is refused without a request",
  async (model) => {
    const { error } = await collectFailure(open(), modelRequest("Hello", { model }));
    expect(error).toMatchObject({ kind: "refused", status: 404 });
    expect(double().requests).toEqual([]);
  },
);

test("attachments follow the text", async () => {
  const files = [filePart("dot.png", "image/png", "PNG"), filePart("a.pdf", "application/pdf", "PDF")];
  expect((await body({}, files)).contents[0].parts).toEqual([
    { text: "Hello" },
    { inlineData: { mimeType: "image/png", data: "UE5H" } },
    { inlineData: { mimeType: "application/pdf", data: "UERG" } },
  ]);
});

const textMessage = (role: "user" | "assistant", text: string): ModelMessage => ({
  role,
  parts: [{ type: "text", text }],
});

test("roles alternate, and empty messages are left out", async () => {
  const messages = [
    textMessage("user", "One"),
    textMessage("user", "two"),
    textMessage("assistant", ""),
    textMessage("user", "three"),
    textMessage("assistant", "Four"),
    textMessage("user", "Five"),
  ];
  expect((await body({ messages })).contents).toEqual([
    { role: "user", parts: [{ text: "One" }, { text: "two" }, { text: "three" }] },
    { role: "model", parts: [{ text: "Four" }] },
    { role: "user", parts: [{ text: "Five" }] },
  ]);
});

test.each([
  ["gemini-4-pro", "skip_thought_signature_validator"],
  ["gemini-2.5-flash", undefined],
])("a call that %s did not make has the signature %s", async (model, thoughtSignature) => {
  const calls = ["one", "two"].map((id) => ({ id, name: "search", arguments: "{}" }));
  const messages: ModelMessage[] = [
    textMessage("user", "Look"),
    { role: "assistant", parts: [], calls },
    ...calls.map(({ id }) => ({ role: "tool" as const, call_id: id, parts: [{ type: "text" as const, text: id }] })),
  ];
  const functionCall = { name: "search", args: {} };
  expect((await body({ model, messages, tools: [tool("search")] })).contents[1].parts).toEqual([
    { functionCall, ...(thoughtSignature && { thoughtSignature }) },
    { functionCall },
  ]);
});

describe("tools", () => {
  test.each([
    ["auto", undefined],
    ["required", { functionCallingConfig: { mode: "ANY" } }],
    [{ name: "read" }, { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["read"] } }],
  ] as const)("are offered with the choice %j", async (tool_choice, toolConfig) => {
    const sent = await body({ tools: [tool("search"), tool("read")], tool_choice });
    expect(sent.tools).toEqual([{ functionDeclarations: [declared("search"), declared("read")] }]);
    expect(sent.toolConfig).toEqual(toolConfig);
  });

  test.each(["auto", "required", { name: "web_fetch" }] as const)(
    "that read pages become Google's own tool, which cannot be forced (%j)",
    async (tool_choice) => {
      const sent = await body({ tools: [tool("web_fetch")], tool_choice });
      expect(sent.tools).toEqual([{ urlContext: {} }]);
      expect(sent).not.toHaveProperty("toolConfig");
    },
  );

  test("of the caller's own are functions, also under the name of the one that reads pages", async () => {
    const sent = await body({ tools: [tool("web_fetch")], client_tools: ["web_fetch"] });
    expect(sent.tools).toEqual([{ functionDeclarations: [declared("web_fetch")] }]);
  });

  test("of both kinds can be combined if Google's own shows its results", async () => {
    const sent = await body({ tools: [tool("web_fetch"), tool("search")], tool_choice: "required" });
    expect(sent.tools).toEqual([{ functionDeclarations: [declared("search")] }, { urlContext: {} }]);
    expect(sent.toolConfig).toEqual({
      functionCallingConfig: { mode: "ANY" },
      includeServerSideToolInvocations: true,
    });
  });

  test("of both kinds are refused by a model that cannot combine them", async () => {
    const tools = [tool("web_fetch"), tool("search")];
    const { error } = await collectFailure(open(), request("Hello", { model: "gemini-2.5-flash", tools }));
    const message = expect.stringContaining("cannot be combined");
    expect(error).toMatchObject({ kind: "refused", status: 400, message });
  });
});

test("a response format asks for JSON, with its schema if it has one", async () => {
  const schema = { type: "object", properties: { n: { type: "integer" } } };
  const response_format = { type: "json_schema" as const, json_schema: { name: "number", schema } };
  expect((await body({ response_format })).generationConfig).toMatchObject({
    responseMimeType: "application/json",
    responseJsonSchema: schema,
  });
  const { generationConfig } = await body({ response_format: { type: "json_object" } });
  expect(generationConfig.responseMimeType).toBe("application/json");
  expect(generationConfig).not.toHaveProperty("responseJsonSchema");
});

describe("thinking", () => {
  const shown = { includeThoughts: true };
  const thinkingConfig = (sent: any) => sent.generationConfig?.thinkingConfig;

  test.each([
    ["gemini-4-pro", null, shown],
    ["gemini-4-pro", "furious", shown],
    ["gemini-4-pro", "none", { ...shown, thinkingLevel: "LOW" }],
    ["gemini-4-pro", "minimal", { ...shown, thinkingLevel: "LOW" }],
    ["gemini-4-pro", "medium", { ...shown, thinkingLevel: "MEDIUM" }],
    ["gemini-4-pro", "max", { ...shown, thinkingLevel: "HIGH" }],
    // has no levels
    ["gemini-2.5-flash", "high", shown],
    // does not think
    ["gemma-4-27b-it", "high", undefined],
  ])("of %s with the effort %s is %j", async (model, reasoning_effort, expected) => {
    expect(thinkingConfig(await body({ model, reasoning_effort }))).toEqual(expected);
  });

  test.each([
    [null, undefined],
    ["high", { ...shown, thinkingLevel: "HIGH" }],
  ])("of an unknown model with the effort %s is %j", async (reasoning_effort, expected) => {
    double().script(({ method }) => (method === "GET" ? { status: 500 } : undefined));
    const more: Partial<ModelRequest> = { reasoning_effort };
    await collectEvents(open({ api_key: `AIza-${reasoning_effort}` }), request("Hello", more));
    expect(thinkingConfig(double().prompts().at(-1)!.body)).toEqual(expected);
  });
});
