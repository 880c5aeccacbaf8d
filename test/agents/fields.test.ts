import { beforeEach, describe, expect, test } from "vitest";
import { PDF, PNG } from "../clients/deployment.ts";
import { fileForm } from "../http/service.ts";
import { agentClient, startAgents, TOOL } from "./agents.ts";

/* Fields of a request as the provider and the tools receive them, and as the response shows them. */

const agents = await startAgents();
const agent = await agents.open({
  model: "openai/gpt-test",
  instructions: "You are Ada's.",
  reasoning: { effort: "low" },
});
beforeEach(() => agents.answers());
const user = (content: unknown) => ({ role: "user", content });

describe("the input of a response", () => {
  test("is a text, or a list of items whose last user message starts the turn", async () => {
    await agent.ask([
      { role: "user", content: "one" },
      { type: "message", role: "assistant", content: [{ type: "output_text", text: "two", annotations: [] }] },
      {
        type: "message",
        role: "user",
        content: [
          { type: "input_text", text: "three" },
          { type: "input_text", text: "four" },
        ],
      },
    ]);
    expect(agents.asked().messages.slice(1)).toEqual([
      { role: "user", content: "one" },
      { role: "assistant", content: "two" },
      { role: "user", content: "three\nfour" },
    ]);
  });

  test("skips items of other types, whatever their fields", async () => {
    await agent.ask([
      { type: "item_reference", id: "msg_1" },
      { type: "reasoning", summary: [], content: [{ nothing: 1 }], encrypted_content: null },
      { type: "web_search_call", content: { any: "shape" } },
      { type: "function_call", call_id: "c", name: "f", arguments: "{}" },
      { type: "function_call_output", call_id: "c", output: "{}" },
      user([
        { type: "input_audio", text: 5 },
        { type: "refusal", refusal: "no" },
        { type: "input_text", text: "only this" },
      ]),
    ]);
    expect(agents.asked().messages.slice(1)).toEqual([{ role: "user", content: "only this" }]);
  });

  test("accepts images and files, inline and by id", async () => {
    const { id } = (await agent.call("POST", `${agents.base_url}/files`, fileForm("stored words", "b.txt"))).body;
    const content = [
      { type: "input_text", text: "Look" },
      { type: "input_image", image_url: `data:image/png;base64,${PNG}` },
      { type: "input_file", filename: "a.pdf", file_data: `data:application/pdf;base64,${PDF}` },
      { type: "input_file", file_id: id },
    ];
    const first = await agent.ask([user(content)], { attachments: [id] });
    const stored = {
      type: "file",
      file: { filename: "b.txt", file_data: `data:text/plain;base64,${btoa("stored words")}` },
    };
    const seen = [
      { type: "text", text: "Look" },
      { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } },
      { type: "file", file: { filename: "a.pdf", file_data: `data:application/pdf;base64,${PDF}` } },
      // attached twice, sent once
      stored,
    ];
    expect(agents.asked().messages.at(-1).content).toEqual(seen);
    await agent.ask("And now?", { previous_response_id: first.id });
    expect(agents.asked().messages.at(-3).content).toEqual(seen);
  });

  test("may consist of files only", async () => {
    const image = [user([{ type: "input_image", image_url: `data:image/png;base64,${PNG}` }])];
    expect((await agent.ask(image)).status).toBe("completed");
  });
});

describe("the instructions of a response", () => {
  const ofSystem = () => agents.asked().messages[0];

  test("come after those of the agent, which are never shown", async () => {
    const response = await agent.ask(
      [{ role: "system", content: "Then S." }, { role: "developer", content: "Then D." }, user("x")],
      {
        instructions: "First I.",
      },
    );
    expect(ofSystem()).toEqual({ role: "system", content: "You are Ada's.\n\nFirst I.\n\nThen S.\n\nThen D." });
    expect(response.instructions).toBe("First I.\n\nThen S.\n\nThen D.");
    const { text } = await agent.call("GET", `/responses/${response.id}`);
    expect(text).not.toContain("Ada's");
    expect(JSON.parse(text)).toEqual(response);
  });

  test("apply to one request only", async () => {
    const { id } = await agent.ask("x", { instructions: "Once." });
    const next = await agent.ask("y", { previous_response_id: id });
    expect(next.instructions).toBeNull();
    expect(JSON.stringify(agents.asked().messages)).not.toContain("Once.");
    expect((await agent.call("GET", `/responses/${next.id}/input_items`)).text).not.toContain("Once.");
  });
});

test("reasoning.effort is the agent's, unless the request overrides it", async () => {
  expect((await agent.ask("x")).reasoning).toEqual({ effort: "low", summary: null });
  expect(agents.asked().reasoning_effort).toBe("low");
  expect((await agent.ask("x", { reasoning: { effort: "high", summary: "auto" } })).reasoning.effort).toBe("high");
  expect(agents.asked().reasoning_effort).toBe("high");
  for (const reasoning of [null, {}, { effort: null }]) await agent.ask("x", { reasoning });
  expect(agents.asked().reasoning_effort).toBe("low");
  const plain = await agents.open({ model: "openai/gpt-test" });
  expect((await plain.ask("x")).reasoning.effort).toBeNull();
  expect(agents.asked()).not.toHaveProperty("reasoning_effort");
});

test("model, store and unknown fields change nothing, and tools may be missing or empty", async () => {
  const ignored = {
    model: "openai/gpt-other",
    store: false,
    temperature: 2,
    top_p: 0.1,
    include: [],
    truncation: "auto",
  };
  const response = await agent.ask("x", {
    ...ignored,
    background: true,
    parallel_tool_calls: false,
    tools: [],
    tool_choice: null,
  });
  expect(response).toMatchObject({
    model: "openai/gpt-test",
    store: true,
    temperature: 1,
    truncation: "disabled",
    background: false,
  });
  expect(agents.asked()).toMatchObject({ model: "gpt-test" });
  for (const field of ["temperature", "max_tokens", "max_completion_tokens", "top_p"])
    expect(agents.asked()).not.toHaveProperty(field);
  for (const text of [null, {}, { format: { type: "text" } }, { verbosity: "low" }])
    await agent.ask("x", { text, tools: null });
});

test("a response has every field of the spec", async () => {
  agents.answers({
    text: "So",
    usage: {
      prompt_tokens: 30,
      completion_tokens: 20,
      total_tokens: 50,
      prompt_tokens_details: { cached_tokens: 10 },
      completion_tokens_details: { reasoning_tokens: 5 },
    },
  });
  const response = await agent.ask("x", { user: "ada", metadata: { a: 1 } });
  const uuid = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";
  expect(response).toEqual({
    id: expect.stringMatching(new RegExp(`^resp_${uuid}$`)),
    object: "response",
    created_at: expect.any(Number),
    completed_at: expect.any(Number),
    status: "completed",
    error: null,
    incomplete_details: null,
    instructions: null,
    model: "openai/gpt-test",
    output: [
      {
        type: "message",
        id: expect.stringMatching(new RegExp(`^msg_${uuid}$`)),
        role: "assistant",
        status: "completed",
        content: [{ type: "output_text", text: "So", annotations: [], logprobs: [] }],
      },
    ],
    parallel_tool_calls: true,
    tool_choice: "auto",
    truncation: "disabled",
    previous_response_id: null,
    store: true,
    tools: [],
    usage: {
      cost: "0.00023",
      input_tokens: 30,
      input_tokens_details: { cached_tokens: 10, cache_write_tokens: 0 },
      output_tokens: 20,
      output_tokens_details: { reasoning_tokens: 5 },
      total_tokens: 50,
    },
    user: "ada",
    metadata: { a: 1 },
    thread_id: expect.stringMatching(new RegExp(`^${uuid}$`)),
    text: { format: { type: "text" } },
    reasoning: { effort: "low", summary: null },
    temperature: 1,
    top_p: 1,
    presence_penalty: 0,
    frequency_penalty: 0,
    top_logprobs: 0,
    max_output_tokens: null,
    max_tool_calls: null,
    background: false,
    service_tier: "default",
    safety_identifier: null,
    prompt_cache_key: null,
  });
  expect(Math.abs(response.created_at - Date.now() / 1000)).toBeLessThan(60);
});

test("max_output_tokens reaches the model, and appears in the buffered, streamed and stored response", async () => {
  const whole = await agent.ask("x", { max_output_tokens: 7 });
  expect(JSON.stringify(agents.asked())).toMatch(/"max_(completion_)?tokens":7/);
  const { response } = await agent.stream("x", { max_output_tokens: 7 });
  const stored = (await agent.call("GET", `/responses/${whole.id}`)).body;
  expect([whole, response, stored].map((one) => one.max_output_tokens)).toEqual([7, 7, 7]);
  const refused = await agent.post({ input: "x", max_output_tokens: 0 });
  expect([refused.status, refused.body.error.param]).toEqual([400, "max_output_tokens"]);
});

test("a response format other than text is refused with a hint about how to get JSON", async () => {
  const { status, body } = await agent.post({ input: "x", text: { format: { type: "json_schema" } } });
  expect([status, body.error.code]).toEqual([400, "unsupported_response_format"]);
  expect(body.error.message).toContain("response_format to /api/openai/v1/chat/completions");
});

test("an answer that the token limit truncates is completed with status completed", async () => {
  agents.answers({ text: "So far", finish_reason: "length" });
  expect(await agent.ask("x")).toMatchObject({ status: "completed", incomplete_details: null, error: null });
});

describe("the vars of a response", () => {
  const many = (n: number) => Object.fromEntries(Array.from({ length: n }, (_, at) => [`k${at}`, at]));

  test("belong to the thread: they are merged, can be overwritten, and are limited to 32 after the merge", async () => {
    const first = await agent.ask("x", { vars: { a: 1, b: { deep: [1] } }, metadata: { b: "lost", c: "kept" } });
    expect(first.metadata).toEqual({ a: 1, b: { deep: [1] }, c: "kept" });
    const second = await agent.ask("y", { previous_response_id: first.id, metadata: { a: 2 } });
    expect(second.metadata).toEqual({ ...first.metadata, a: 2 });
    const bare = await agent.ask("z", {}, { "x-thread-id": first.thread_id });
    expect(bare.metadata).toEqual(second.metadata);
    expect((await agent.ask("w", { previous_response_id: first.id, vars: many(29) })).status).toBe("completed");
    const over = await agent.post({ input: "w", previous_response_id: first.id, vars: { one: 1 } });
    expect([over.status, over.body.error.code]).toEqual([400, "invalid_vars"]);
    expect((await agent.call("GET", `/responses/${first.id}`)).body.metadata).toEqual(first.metadata);
  });

  test("of queued turns are all kept, and their limit counts earlier turns first", async () => {
    const agent = await agents.open({ model: "offline/scripted", tools: [] });
    const [{ response }] = await agent.some(
      "/responses",
      { input: "/slow 0.5\n/say a b c", stream: true, vars: { a: 1 } },
      (seen) => seen.some(({ type }) => type === "response.created"),
    );
    const thread = { "x-thread-id": response.thread_id };
    const waiting = ["b", "c", "d"].map((key) => agent.post({ input: key, vars: { [key]: 1 } }, thread));
    for (const { status, text } of await Promise.all(waiting)) expect(status, text).toBe(200);
    expect((await agent.ask("x", {}, thread)).metadata).toEqual({ a: 1, b: 1, c: 1, d: 1 });
    const both = await Promise.all(
      [28, 27].map((n, by) =>
        agent.post(
          { input: "x", vars: Object.fromEntries(Array.from({ length: n }, (_, at) => [`${by}-${at}`, at])) },
          thread,
        ),
      ),
    );
    const refused = both.filter(({ status }) => status !== 200).map(({ body }) => body.error.code);
    expect(refused).toEqual(["invalid_vars"]);
  });

  test("reach tools as meta.vars, but never the model", async () => {
    const client = agentClient(
      agents.url,
      agents.api_key,
      await agents.agent({ model: "offline/scripted", tools: [TOOL] }),
    );
    const { output } = await client.ask(`/tool ${TOOL} {"text":"hi"}`, {
      vars: { region: "eu" },
      metadata: { tier: "gold" },
    });
    expect(output[1].content[0].text).toBe(`${TOOL}: {"text":"hi","vars":{"tier":"gold","region":"eu"}}`);
    await agent.ask("x", { vars: { secret: "never-told" } });
    expect(JSON.stringify(agents.asked())).not.toContain("never-told");
  });
});

test("the user of a request appears in the response and reaches the provider", async () => {
  const { id, user: told } = await agent.ask("x", { user: "ada" });
  expect([told, agents.asked().user]).toEqual(["ada", "ada"]);
  expect((await agent.call("GET", `/responses/${id}?user=ada`)).body.user).toBe("ada");
  expect((await agent.ask("x", { user: null })).user).toBeNull();
});
