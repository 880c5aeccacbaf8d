import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { ModelMessage, ModelRequest, Part } from "#services/turns/model.ts";
import { startGoogle, type GoogleDouble } from "#test/doubles/google.ts";
import { asking, failed, file, heard } from "#test/doubles/modelRequest.ts";
import { openModels } from "../index.ts";

/* What Google is asked; the double refuses what the real one refuses. */

let google: GoogleDouble;
beforeAll(async () => {
  google = await startGoogle();
});
beforeEach(() => google.answers({}));
afterAll(() => google.close());

const models = openModels({ offline: false, privateHosts: [] });
const model = () => models.open({ provider: "google", api_key: "AIza-x", base_url: google.url, guarded: false });
async function sent(more: Partial<ModelRequest>, files: Part[] = []): Promise<any> {
  await heard(model(), asking("Hello", { model: "gemini-4-pro", ...more }, files));
  return google.asked().at(-1);
}
const tool = (name: string) => ({
  name,
  description: `Does ${name}.`,
  parameters: { type: "object", properties: { q: { type: "string" } }, additionalProperties: false },
});
const declared = (name: string) => {
  const { parameters, ...others } = tool(name);
  return { ...others, parametersJsonSchema: parameters };
};

test("a request carries what was asked for and nothing else", async () => {
  const contents = [{ role: "user", parts: [{ text: "Hello" }] }];
  expect(await sent({ model: "gemma-4-27b-it" })).toEqual({ contents, generationConfig: {} });
  const more = { temperature: 0.5, top_p: 0.9, max_output_tokens: 50, stop: ["END"], seed: 7 };
  expect(await sent({ ...more, model: "gemma-4-27b-it", instructions: "Be brief.", user: "ann" })).toEqual({
    contents,
    systemInstruction: { role: "user", parts: [{ text: "Be brief." }] },
    generationConfig: { temperature: 0.5, topP: 0.9, maxOutputTokens: 50, stopSequences: ["END"], seed: 7 },
  });
});

test("a limit is never more than the model's, and a seed has 32 bits", async () => {
  const { generationConfig } = await sent({ max_output_tokens: 1_000_000, seed: 2 ** 40 + 5 });
  expect(generationConfig).toMatchObject({ maxOutputTokens: 65_536, seed: 5 });
});

test("attachments go behind the text as what they are", async () => {
  const files = [file("dot.png", "image/png", "PNG"), file("a.pdf", "application/pdf", "PDF")];
  expect((await sent({}, files)).contents[0].parts).toEqual([
    { text: "Hello" },
    { inlineData: { mimeType: "image/png", data: "UE5H" } },
    { inlineData: { mimeType: "application/pdf", data: "UERG" } },
  ]);
});

test("the two sides take turns, and what says nothing is left out", async () => {
  const say = (role: "user" | "assistant", text: string): ModelMessage => ({ role, parts: [{ type: "text", text }] });
  const messages = [
    say("user", "One"),
    say("user", "two"),
    say("assistant", ""),
    say("user", "three"),
    say("assistant", "Four"),
  ];
  expect((await sent({ messages: [...messages, say("user", "Five")] })).contents).toEqual([
    { role: "user", parts: [{ text: "One" }, { text: "two" }, { text: "three" }] },
    { role: "model", parts: [{ text: "Four" }] },
    { role: "user", parts: [{ text: "Five" }] },
  ]);
});

describe("tools", () => {
  test.each([
    ["auto", undefined],
    ["required", { functionCallingConfig: { mode: "ANY" } }],
    [{ name: "read" }, { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["read"] } }],
  ] as const)("are offered with the choice %j", async (tool_choice, toolConfig) => {
    const body = await sent({ tools: [tool("search"), tool("read")], tool_choice });
    expect(body.tools).toEqual([{ functionDeclarations: [declared("search"), declared("read")] }]);
    expect(body.toolConfig).toEqual(toolConfig);
  });

  test.each(["auto", "required", { name: "web_fetch" }] as const)(
    "that read pages are the provider's own, which cannot be forced (%j)",
    async (tool_choice) => {
      const body = await sent({ tools: [tool("web_fetch")], tool_choice });
      expect(body.tools).toEqual([{ urlContext: {} }]);
      expect(body).not.toHaveProperty("toolConfig");
    },
  );

  test("of both kinds go together, with what its own found shown", async () => {
    const body = await sent({ tools: [tool("web_fetch"), tool("search")], tool_choice: "required" });
    expect(body.tools).toEqual([{ functionDeclarations: [declared("search")] }, { urlContext: {} }]);
    expect(body.toolConfig).toEqual({
      functionCallingConfig: { mode: "ANY" },
      includeServerSideToolInvocations: true,
    });
  });

  test("of both kinds are refused in its words by a model that cannot", async () => {
    const { error } = await failed(
      model(),
      asking("Hello", { model: "gemini-2.5-flash", tools: [tool("web_fetch"), tool("search")] }),
    );
    expect(error).toMatchObject({
      kind: "refused",
      status: 400,
      message: expect.stringContaining("cannot be combined"),
    });
  });
});

test("a format is asked for as JSON, with its schema where there is one", async () => {
  const schema = { type: "object", properties: { n: { type: "integer" } } };
  const format = { type: "json_schema" as const, json_schema: { name: "number", schema } };
  expect((await sent({ response_format: format })).generationConfig).toMatchObject({
    responseMimeType: "application/json",
    responseJsonSchema: schema,
  });
  const { generationConfig } = await sent({ response_format: { type: "json_object" } });
  expect(generationConfig.responseMimeType).toBe("application/json");
  expect(generationConfig).not.toHaveProperty("responseJsonSchema");
});

describe("thinking", () => {
  const shown = { includeThoughts: true };
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
  ])("of %s with effort %s is %j", async (name, reasoning_effort, expected) => {
    expect((await sent({ model: name, reasoning_effort })).generationConfig?.thinkingConfig).toEqual(expected);
  });

  test.each([
    [null, undefined],
    ["high", { ...shown, thinkingLevel: "HIGH" }],
  ])("of a model that nothing is known of is asked for with effort %s only", async (reasoning_effort, expected) => {
    google.script(({ method }) => (method === "GET" ? { status: 500 } : undefined));
    const fresh = models.open({
      provider: "google",
      api_key: `AIza-${reasoning_effort}`,
      base_url: google.url,
      guarded: false,
    });
    await heard(fresh, asking("Hello", { model: "gemini-4-pro", reasoning_effort }));
    expect(google.asked().at(-1).generationConfig?.thinkingConfig).toEqual(expected);
  });
});
