import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { ModelRequest, Part } from "#services/turns/model.ts";
import { startAnthropic, type AnthropicDouble } from "#test/doubles/anthropic.ts";
import { asking, failed, file, heard } from "#test/doubles/modelRequest.ts";
import { openModels } from "../index.ts";

/* What Anthropic is asked; the double refuses what the real one refuses. */

let anthropic: AnthropicDouble;
beforeAll(async () => {
  anthropic = await startAnthropic();
});
beforeEach(() => anthropic.answers({}));
afterAll(() => anthropic.close());

const models = openModels({ offline: false, privateHosts: [] });
const model = () =>
  models.open({ provider: "anthropic", api_key: "sk-ant-x", base_url: anthropic.url, guarded: false });
async function sent(more: Partial<ModelRequest>, files: Part[] = []): Promise<any> {
  await heard(model(), asking("Hello", { model: "claude-opus-5", ...more }, files));
  return anthropic.asked().at(-1);
}
const tool = {
  name: "search",
  description: "Searches.",
  parameters: { type: "object", properties: { q: { type: "string" } }, required: ["q"] },
};

test("a request carries what was asked for and nothing else", async () => {
  expect(await sent({})).toEqual({
    model: "claude-opus-5",
    max_tokens: 64_000,
    messages: [{ role: "user", content: [{ type: "text", text: "Hello" }] }],
    stream: true,
  });
  expect(
    await sent({ instructions: "Be brief.", max_output_tokens: 50, stop: ["END"], user: "ann@example.com" }),
  ).toEqual({
    model: "claude-opus-5",
    max_tokens: 50,
    system: "Be brief.",
    messages: [{ role: "user", content: [{ type: "text", text: "Hello" }] }],
    stop_sequences: ["END"],
    metadata: { user_id: expect.stringMatching(/^[0-9a-f]{64}$/) },
    stream: true,
  });
});

test("what the API has no word for is left out, because it refuses what it does not know", async () => {
  const body = await sent({ temperature: 0.2, top_p: 0.9, seed: 7 });
  expect(Object.keys(body).sort()).toEqual(["max_tokens", "messages", "model", "stream"]);
});

describe("the limit", () => {
  test.each([
    ["that was asked for", "claude-opus-5", 1_000, 1_000],
    ["is never more than the model's", "claude-opus-5", 1_000_000, 64_000],
    ["of a model that nothing is known of is one that every model takes", "claude-unknown", null, 8_192],
  ])("%s", async (_, name, max_output_tokens, expected) => {
    expect((await sent({ model: name, max_output_tokens })).max_tokens).toBe(expected);
  });

  test("is asked for once per model", async () => {
    const fresh = models.open({ provider: "anthropic", api_key: "sk-ant-y", base_url: anthropic.url, guarded: false });
    const ask = () => heard(fresh, asking("Hello", { model: "claude-opus-5" }));
    await Promise.all([ask(), ask(), ask()]);
    await ask();
    expect(anthropic.requests.filter(({ method }) => method === "GET")).toHaveLength(1);
  });

  test("does without where the provider does not tell", async () => {
    anthropic.script(({ method }) => (method === "GET" ? { status: 500 } : undefined));
    const fresh = models.open({ provider: "anthropic", api_key: "sk-ant-z", base_url: anthropic.url, guarded: false });
    await heard(fresh, asking("Hello", { model: "claude-opus-5" }));
    expect(anthropic.asked().at(-1).max_tokens).toBe(8_192);
  });
});

describe("attachments", () => {
  test("go behind the text: images, PDFs and texts, each as what it is", async () => {
    const files = [
      file("dot.png", "image/png", "PNG"),
      file("a.pdf", "application/pdf", "PDF"),
      file("note.md", "text/markdown", "# Größe"),
    ];
    expect((await sent({}, files)).messages[0].content).toEqual([
      { type: "text", text: "Hello" },
      { type: "image", source: { type: "base64", media_type: "image/png", data: "UE5H" } },
      { type: "document", title: "a.pdf", source: { type: "base64", media_type: "application/pdf", data: "UERG" } },
      { type: "document", title: "note.md", source: { type: "text", media_type: "text/plain", data: "# Größe" } },
    ]);
  });

  test("that the provider cannot read are refused in its words", async () => {
    const { error } = await failed(
      model(),
      asking("Read", { model: "claude-opus-5" }, [file("a.docx", "application/vnd.x", "X")]),
    );
    expect(error).toMatchObject({ kind: "refused", status: 400, message: expect.stringContaining("media_type") });
  });
});

test("messages that say nothing are left out", async () => {
  const say = (role: "user" | "assistant", text: string) => ({ role, parts: [{ type: "text" as const, text }] });
  const body = await sent({ messages: [say("user", "Hello"), say("assistant", " \n"), say("user", "Again")] });
  expect(body.messages.map(({ role, content }: any) => [role, content[0].text])).toEqual([
    ["user", "Hello"],
    ["user", "Again"],
  ]);
});

describe("tools", () => {
  test("are offered, and the conversation is kept in the cache between their rounds", async () => {
    const body = await sent({ tools: [tool] });
    expect(body.tools).toEqual([{ name: "search", description: "Searches.", input_schema: tool.parameters }]);
    expect(body.cache_control).toEqual({ type: "ephemeral" });
    expect(body).not.toHaveProperty("tool_choice");
  });

  test.each([
    ["required", { type: "any" }],
    [{ name: "search" }, { type: "tool", name: "search" }],
    ["none", { type: "none" }],
  ] as const)("%j is %j", async (tool_choice, expected) => {
    expect((await sent({ tools: [tool], tool_choice })).tool_choice).toEqual(expected);
  });

  test("take any object where their schema does not say so", async () => {
    expect((await sent({ tools: [{ ...tool, parameters: {} }] })).tools[0].input_schema).toEqual({ type: "object" });
  });
});

describe("a format", () => {
  test("with a schema is adapted to what the provider takes", async () => {
    const schema = { type: "object", properties: { n: { type: "integer", minimum: 3 } }, required: ["n"] };
    const body = await sent({ response_format: { type: "json_schema", json_schema: { name: "number", schema } } });
    expect(body.output_config).toEqual({
      format: {
        type: "json_schema",
        schema: {
          type: "object",
          properties: { n: { type: "integer", description: "{minimum: 3}" } },
          required: ["n"],
          additionalProperties: false,
        },
      },
    });
  });

  test("whose schema cannot be adapted is the provider's to refuse", async () => {
    const schema = { properties: { n: { type: "object" } } };
    const format = { type: "json_schema" as const, json_schema: { name: "odd", schema } };
    const { error } = await failed(model(), asking("Go", { model: "claude-opus-5", response_format: format }));
    expect(error).toMatchObject({ kind: "refused", message: expect.stringContaining("additionalProperties") });
  });

  test("of JSON without a schema is asked for in words", async () => {
    const body = await sent({ instructions: "Be brief.", response_format: { type: "json_object" } });
    expect(body.system).toMatch(/^Be brief\.\n\n.*one JSON object/);
    expect(body).not.toHaveProperty("output_config");
  });
});

describe("thinking", () => {
  const summarized = { type: "adaptive", display: "summarized" };
  const thinks = async (name: string, reasoning_effort: string | null, more: Partial<ModelRequest> = {}) => {
    const { thinking, output_config } = await sent({ model: name, reasoning_effort, ...more });
    return [thinking, output_config?.effort];
  };

  test.each([
    // not asked for
    ["claude-opus-5", null, undefined, undefined],
    ["claude-haiku-4-5", null, undefined, undefined],
    // a model that thinks anyway shows what it thinks
    ["claude-fable-5", null, summarized, undefined],
    ["claude-opus-5", "none", { type: "disabled" }, undefined],
    ["claude-fable-5", "none", undefined, undefined],
    ["claude-opus-5", "minimal", summarized, "low"],
    ["claude-opus-5", "medium", summarized, "medium"],
    // the highest that it knows
    ["claude-opus-5", "max", summarized, "high"],
    ["claude-fable-5", "max", summarized, "max"],
    ["claude-unknown", "xhigh", summarized, "xhigh"],
    // a word that nobody knows
    ["claude-opus-5", "furious", undefined, undefined],
    // by budget
    ["claude-haiku-4-5", "low", { type: "enabled", budget_tokens: 2_048 }, undefined],
    ["claude-haiku-4-5", "max", { type: "enabled", budget_tokens: 32_000 }, undefined],
  ])("of %s with effort %s", async (name, effort, thinking, told) => {
    expect(await thinks(name, effort)).toEqual([thinking, told]);
  });

  test("by budget leaves half of the limit to the answer, and is left out where that is too little", async () => {
    const haiku = (max_output_tokens: number) => thinks("claude-haiku-4-5", "high", { max_output_tokens });
    expect(await haiku(4_096)).toEqual([{ type: "enabled", budget_tokens: 2_048 }, undefined]);
    expect(await haiku(2_000)).toEqual([undefined, undefined]);
  });

  test.each(["required", { name: "search" }] as const)("by budget gives way to the choice %j", async (tool_choice) => {
    expect(await thinks("claude-haiku-4-5", "high", { tools: [tool], tool_choice })).toEqual([undefined, undefined]);
    expect(await thinks("claude-opus-5", "high", { tools: [tool], tool_choice })).toEqual([summarized, "high"]);
  });
});
