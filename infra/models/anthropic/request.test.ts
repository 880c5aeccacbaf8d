import { describe, expect, test } from "vitest";
import type { ModelMessage, ModelRequest, Part } from "#services/turns/model.ts";
import { ANTHROPIC } from "#test/doubles/anthropic/dialect.ts";
import { collectEvents, collectFailure, filePart, modelRequest, tool } from "#test/doubles/modelRequest.ts";
import { useDouble } from "#test/doubles/useDouble.ts";

/* Bodies of requests. The fake provider refuses what the API refuses. */

const { double, open, wireBody } = useDouble(ANTHROPIC);
const body = (more: Partial<ModelRequest>, files: Part[] = []) => wireBody({ model: "claude-opus-5", ...more }, files);
const failure = async (more: Partial<ModelRequest>, files: Part[] = []) =>
  (await collectFailure(open(), modelRequest("Hello", { model: "claude-opus-5", ...more }, files))).error;
const search = tool("search");

test("a request has what was asked for and nothing else", async () => {
  const messages = [{ role: "user", content: [{ type: "text", text: "Hello" }] }];
  expect(await body({})).toEqual({ model: "claude-opus-5", max_tokens: 64_000, messages, stream: true });
  const more = { instructions: "Be brief.", max_output_tokens: 50, stop: ["END"], user: "ann@example.com" };
  expect(await body(more)).toEqual({
    model: "claude-opus-5",
    max_tokens: 50,
    system: "Be brief.",
    messages,
    stop_sequences: ["END"],
    metadata: { user_id: expect.stringMatching(/^[0-9a-f]{64}$/) },
    stream: true,
  });
});

test("options that the API does not have are left out", async () => {
  const sent = await body({ temperature: 0.2, top_p: 0.9, seed: 7 });
  expect(Object.keys(sent).sort()).toEqual(["max_tokens", "messages", "model", "stream"]);
});

test("stop sequences of white space, which the API refuses, are left out", async () => {
  expect((await body({ stop: ["\n", "END", " "] })).stop_sequences).toEqual(["END"]);
  expect(await body({ stop: ["\n"] })).not.toHaveProperty("stop_sequences");
});

describe("max_tokens", () => {
  test.each([
    ["is the limit of the request", "claude-opus-5", 1_000, 1_000],
    ["is at most the model's limit", "claude-opus-5", 1_000_000, 64_000],
    ["of an unknown model is one that every model accepts", "claude-unknown", null, 8_192],
  ])("%s", async (_, model, max_output_tokens, expected) => {
    expect((await body({ model, max_output_tokens })).max_tokens).toBe(expected);
  });

  test("needs one look-up of the model's limit", async () => {
    const fresh = open({ api_key: "sk-ant-y" });
    const ask = () => collectEvents(fresh, modelRequest("Hello", { model: "claude-opus-5" }));
    await Promise.all([ask(), ask(), ask()]);
    await ask();
    expect(double().requests.filter(({ method }) => method === "GET")).toHaveLength(1);
  });

  test("is a safe one while the look-up fails", async () => {
    double().script(({ method }) => (method === "GET" ? { status: 500 } : undefined));
    await collectEvents(open({ api_key: "sk-ant-z" }), modelRequest("Hello", { model: "claude-opus-5" }));
    expect(double().prompts().at(-1)!.body.max_tokens).toBe(8_192);
  });
});

describe("attachments", () => {
  test("follow the text: images, PDFs and texts, each in its own form", async () => {
    const files = [
      filePart("dot.png", "image/png", "PNG"),
      filePart("a.pdf", "application/pdf", "PDF"),
      filePart("note.md", "text/markdown", "# Größe"),
    ];
    expect((await body({}, files)).messages[0].content).toEqual([
      { type: "text", text: "Hello" },
      { type: "image", source: { type: "base64", media_type: "image/png", data: "UE5H" } },
      { type: "document", title: "a.pdf", source: { type: "base64", media_type: "application/pdf", data: "UERG" } },
      { type: "document", title: "note.md", source: { type: "text", media_type: "text/plain", data: "# Größe" } },
    ]);
  });

  test("of a type that the provider cannot read are refused with its message", async () => {
    const error = await failure({}, [filePart("a.docx", "application/vnd.x", "X")]);
    expect(error).toMatchObject({ kind: "refused", status: 400, message: expect.stringContaining("media_type") });
  });
});

const textMessage = (role: "user" | "assistant", text: string): ModelMessage => ({
  role,
  parts: [{ type: "text", text }],
});

test("empty messages are left out", async () => {
  const messages = [textMessage("user", "Hello"), textMessage("assistant", " \n"), textMessage("user", "Again")];
  const sent = (await body({ messages })).messages;
  expect(sent.map(({ role, content }: any) => [role, content[0].text])).toEqual([
    ["user", "Hello"],
    ["user", "Again"],
  ]);
});

describe("the provider's cache", () => {
  const long = "A long question. ".repeat(300);
  const thread = (text: string) => [
    textMessage("user", text),
    textMessage("assistant", "Yes."),
    textMessage("user", "Why?"),
  ];

  test("is requested in a long conversation that continues", async () => {
    expect((await body({ messages: thread(long) })).cache_control).toEqual({ type: "ephemeral" });
    expect((await body({ messages: thread("Hello"), instructions: long })).cache_control).toEqual({
      type: "ephemeral",
    });
  });
  test("is requested for long instructions by themselves, because other threads begin with them", async () => {
    const system = [{ type: "text", text: long, cache_control: { type: "ephemeral" } }];
    expect(await body({ instructions: long })).toMatchObject({ system });
    expect(await body({ instructions: long, tools: [search] })).toMatchObject({ system });
    expect((await body({ instructions: "Be brief." })).system).toBe("Be brief.");
  });
  test.each([
    ["a short conversation", { messages: thread("Hello") }],
    ["a long first message", { messages: [textMessage("user", long)] }],
  ])("is not asked for in %s", async (_, more) => expect(await body(more)).not.toHaveProperty("cache_control"));
});

describe("tools", () => {
  test("are offered, with a cached conversation for their next rounds", async () => {
    const sent = await body({ tools: [search] });
    expect(sent.tools).toEqual([{ name: "search", description: "Does search.", input_schema: search.parameters }]);
    expect(sent.cache_control).toEqual({ type: "ephemeral" });
    expect(sent).not.toHaveProperty("tool_choice");
  });

  test.each([
    ["required", { type: "any" }],
    [{ name: "search" }, { type: "tool", name: "search" }],
    ["none", { type: "none" }],
  ] as const)("with the choice %j have the choice %j", async (tool_choice, expected) => {
    expect((await body({ tools: [search], tool_choice })).tool_choice).toEqual(expected);
  });

  test("without a type in their schema accept any object", async () => {
    expect((await body({ tools: [{ ...search, parameters: {} }] })).tools[0].input_schema).toEqual({ type: "object" });
  });

  test("called in an answer go back as its blocks, with all results in one message", async () => {
    const calls = [
      { id: "one", name: "search", arguments: '{"q":"1"}' },
      { id: "cut", name: "search", arguments: '{"q":' },
    ];
    const messages: ModelMessage[] = [
      textMessage("user", "Look"),
      { role: "assistant", parts: [{ type: "text", text: "Let me look." }], calls },
      ...calls.map(({ id }) => ({ role: "tool" as const, call_id: id, parts: [{ type: "text" as const, text: id }] })),
    ];
    expect((await body({ messages, tools: [search] })).messages.slice(1)).toEqual([
      {
        role: "assistant",
        content: [
          { type: "text", text: "Let me look." },
          { type: "tool_use", id: "one", name: "search", input: { q: "1" } },
          // arguments that are not an object are sent back as {}
          { type: "tool_use", id: "cut", name: "search", input: {} },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "one", content: "one" },
          { type: "tool_result", tool_use_id: "cut", content: "cut" },
        ],
      },
    ]);
  });
});

describe("a response format", () => {
  test("with a schema is adapted to what the provider accepts", async () => {
    const schema = { type: "object", properties: { n: { type: "integer", minimum: 3 } }, required: ["n"] };
    const sent = await body({ response_format: { type: "json_schema", json_schema: { name: "number", schema } } });
    const properties = { n: { type: "integer", description: "{minimum: 3}" } };
    expect(sent.output_config).toEqual({
      format: {
        type: "json_schema",
        schema: { type: "object", properties, required: ["n"], additionalProperties: false },
      },
    });
  });

  test("with a schema that cannot be adapted is refused by the provider", async () => {
    const schema = { properties: { n: { type: "object" } } };
    const error = await failure({ response_format: { type: "json_schema", json_schema: { name: "odd", schema } } });
    expect(error).toMatchObject({ kind: "refused", message: expect.stringContaining("additionalProperties") });
  });

  test("of JSON without a schema becomes an instruction", async () => {
    const sent = await body({ instructions: "Be brief.", response_format: { type: "json_object" } });
    expect(sent.system).toMatch(/^Be brief\.\n\n.*one JSON object/);
    expect(sent).not.toHaveProperty("output_config");
  });
});

describe("thinking", () => {
  const summarized = { type: "adaptive", display: "summarized" };
  const thinking = async (model: string, reasoning_effort: string | null, more: Partial<ModelRequest> = {}) => {
    const sent = await body({ model, reasoning_effort, ...more });
    return [sent.thinking, sent.output_config?.effort];
  };

  test.each([
    ["claude-opus-5", null, undefined, undefined],
    ["claude-haiku-4-5", null, undefined, undefined],
    // a model that always thinks shows its thoughts
    ["claude-fable-5", null, summarized, undefined],
    ["claude-opus-5", "none", { type: "disabled" }, undefined],
    ["claude-fable-5", "none", undefined, undefined],
    ["claude-opus-5", "minimal", summarized, "low"],
    ["claude-opus-5", "medium", summarized, "medium"],
    // the model's highest effort
    ["claude-opus-5", "max", summarized, "high"],
    ["claude-fable-5", "max", summarized, "max"],
    ["claude-unknown", "xhigh", summarized, "xhigh"],
    // an unknown word
    ["claude-opus-5", "furious", undefined, undefined],
    // a budget
    ["claude-haiku-4-5", "low", { type: "enabled", budget_tokens: 2_048 }, undefined],
    ["claude-haiku-4-5", "max", { type: "enabled", budget_tokens: 32_000 }, undefined],
  ])("of %s with the effort %s is %j with the effort %s", async (model, effort, expected, sentEffort) => {
    expect(await thinking(model, effort)).toEqual([expected, sentEffort]);
  });

  test("by budget leaves half of the limit to the answer, and is left out if that is too little", async () => {
    const haiku = (max_output_tokens: number) => thinking("claude-haiku-4-5", "high", { max_output_tokens });
    expect(await haiku(4_096)).toEqual([{ type: "enabled", budget_tokens: 2_048 }, undefined]);
    expect(await haiku(2_000)).toEqual([undefined, undefined]);
  });

  test.each(["required", { name: "search" }] as const)(
    "by budget is left out for the choice %j",
    async (tool_choice) => {
      const more = { tools: [search], tool_choice };
      expect(await thinking("claude-haiku-4-5", "high", more)).toEqual([undefined, undefined]);
      expect(await thinking("claude-opus-5", "high", more)).toEqual([summarized, "high"]);
    },
  );
});
