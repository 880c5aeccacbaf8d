import { beforeAll, describe, expect, test } from "vitest";
import { chunksOf, clientOf, fileForm, say, startService } from "./service.ts";

const service = await startService();
const call = clientOf(service, service.credentials.api_key);

const complete = (body: unknown, headers?: Record<string, string>) => call("POST", "/chat/completions", body, headers);
const png = Buffer.from("\x89PNG not really").toString("base64");

describe("a buffered completion", () => {
  test("answers in the completion shape and includes its thread", async () => {
    const { status, body, headers } = await complete(say("Hello"));
    expect(status).toBe(200);
    expect(body).toEqual({
      id: expect.stringMatching(/^chatcmpl-/),
      object: "chat.completion",
      created: expect.any(Number),
      model: "offline/echo",
      choices: [
        {
          index: 0,
          message: { role: "assistant", content: "Hello", refusal: null, annotations: [] },
          logprobs: null,
          finish_reason: "stop",
        },
      ],
      usage: {
        prompt_tokens: expect.any(Number),
        completion_tokens: expect.any(Number),
        total_tokens: body.usage.prompt_tokens + body.usage.completion_tokens,
        prompt_tokens_details: { cached_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 0 },
      },
    });
    expect(headers.get("x-thread-id")).toMatch(/^[0-9a-f-]{36}$/);
    expect(headers.get("x-request-id")).toBeTruthy();
  });

  test("keeps a well-formed request id", async () => {
    const { headers } = await complete(say("Hello"), { "x-request-id": "mine-1" });
    expect(headers.get("x-request-id")).toBe("mine-1");
  });

  test("has the finish reason of the model", async () => {
    const { body } = await complete(say("/say cut\n/finish length", { model: "offline/scripted" }));
    expect(body.choices[0].finish_reason).toBe("length");
  });

  test("is a 502 without code if the provider fails, marked as not worth a retry", async () => {
    const { status, body, headers } = await complete(say("/fail 400", { model: "offline/scripted" }));
    expect(status).toBe(502);
    expect(body.error).toEqual({ message: expect.any(String), type: "api_error", param: null, code: null });
    expect(headers.get("x-should-retry")).toBe("false");
  });

  test("may be asked with whole numbers of 64 bits", async () => {
    const numbers = '"seed":9223372036854775807,"max_tokens":9223372036854775807';
    const { status, body } = await complete(`${JSON.stringify(say("Hello")).slice(0, -1)},${numbers}}`);
    expect([status, body.choices?.[0].message.content]).toEqual([200, "Hello"]);
    for (const field of ["seed", "max_tokens", "max_completion_tokens"]) {
      const refused = await complete(say("Hello", { [field]: 1.5 }));
      expect([refused.status, refused.body.error.message]).toEqual([400, `${field}: must be a whole number.`]);
    }
    const none = await complete(say("Hello", { max_tokens: 0 }));
    expect([none.status, none.body.error.message]).toEqual([400, "max_tokens: must be at least 1."]);
  });

  test("may have a prompt that is too large for a command", async () => {
    const long = "word ".repeat(60_000);
    const { status, body } = await complete(say(long));
    expect(status).toBe(200);
    expect(body.choices[0].message.content.length).toBeGreaterThan(100_000);
  });
});

describe("a streamed completion", () => {
  test("starts with the role, has the text, finishes once and ends with [DONE]", async () => {
    const { headers, text } = await complete(
      say("one two three", { stream: true, stream_options: { include_usage: true } }),
    );
    expect(headers.get("content-type")).toContain("text/event-stream");
    expect(headers.get("cache-control")).toBe("no-cache, no-transform");
    expect(headers.get("x-thread-id")).toBeTruthy();
    expect(headers.get("x-request-id")).toBeTruthy();
    const chunks = chunksOf(text);
    expect(chunks[0].choices[0]).toEqual({
      index: 0,
      delta: { role: "assistant", content: "" },
      logprobs: null,
      finish_reason: null,
    });
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? "").join("")).toBe("one two three");
    expect(chunks.filter((chunk) => chunk.choices[0]?.finish_reason)).toHaveLength(1);
    expect(chunks.slice(0, -1).every((chunk) => chunk.usage === null)).toBe(true);
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: expect.any(Number) } });
    expect(new Set(chunks.map((chunk) => `${chunk.id} ${chunk.created} ${chunk.model}`)).size).toBe(1);
    expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
  });

  test("is an ordinary 502 if the provider refuses before the first word", async () => {
    const { status, headers, body } = await complete(say("/fail 400", { model: "offline/scripted", stream: true }));
    expect(status).toBe(502);
    expect(headers.get("content-type")).toContain("application/json");
    expect(body.error.code).toBeNull();
  });

  test("ends with an error and without [DONE] when the turn fails after the first word", async () => {
    const { status, text } = await complete(say("/say a b c d\n/cut", { model: "offline/scripted", stream: true }));
    expect(status).toBe(200);
    expect(chunksOf(text).at(-1)).toEqual({
      error: { message: expect.any(String), type: "api_error", param: null, code: null },
    });
    expect(text).not.toContain("[DONE]");
  });
});

describe("a thread", () => {
  test("continues with its earlier messages, and can be read and deleted", async () => {
    const first = await complete(say("My name is Ada"));
    const thread = first.headers.get("x-thread-id")!;
    const second = await complete(say("And again"), { "x-thread-id": thread });
    expect(second.headers.get("x-thread-id")).toBe(thread);
    expect(second.body.usage.prompt_tokens).toBeGreaterThan(first.body.usage.prompt_tokens);
    const { body } = await call("GET", `/threads/${thread}/messages`);
    expect(body.data.map(({ role, content }: { role: string; content: string }) => [role, content])).toEqual([
      ["user", "My name is Ada"],
      ["assistant", "My name is Ada"],
      ["user", "And again"],
      ["assistant", "And again"],
    ]);
    expect((await call("DELETE", `/threads/${thread}`)).body).toEqual({ id: thread, object: "thread", deleted: true });
    expect((await call("GET", `/threads/${thread}/messages`)).body.error.code).toBe("thread_not_found");
    expect((await complete(say("Still there?"), { "x-thread-id": thread })).body.error.code).toBe("thread_not_found");
  });

  describe("that is deleted while its turn runs", () => {
    // makes the worker load its tokenizer: a turn has less than a second to be counted
    beforeAll(() => complete(say("Ready")));
    const slow = (stream: boolean) =>
      say("/slow 0.5\n/say a b c d e f g h i j k l m n", { model: "offline/scripted", stream });
    /** How many turns have begun, and the prompt tokens of each that has failed. */
    const turns = async () => {
      const rows = await service.db.query<{ type: string; data: string }>(
        "select type, data from log.events where type in ('TurnStarted', 'TurnFailed') order by position",
      );
      const failed = rows.filter(({ type }) => type === "TurnFailed");
      return {
        begun: rows.length - failed.length,
        failed: failed.map(({ data }): number => JSON.parse(data).usage.prompt_tokens),
      };
    };

    test("ends its stream, and the tokens of the turn are counted", async () => {
      const { failed } = await turns();
      const begun = await fetch(`${service.chat}/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${service.credentials.api_key}`, "content-type": "application/json" },
        body: JSON.stringify(slow(true)),
      });
      const thread = begun.headers.get("x-thread-id")!;
      const rest = begun.text();
      expect((await call("DELETE", `/threads/${thread}`)).status).toBe(200);
      expect(chunksOf(await rest).at(-1)).toMatchObject({ error: { message: expect.stringContaining("deleted") } });
      expect((await turns()).failed).toEqual([...failed, expect.toSatisfy((tokens) => tokens > 0)]);
      expect((await call("GET", `/threads/${thread}/messages`)).body.error.code).toBe("thread_not_found");
    });

    test("stops a buffered turn, counts its tokens, and returns 404", async () => {
      const thread = (await complete(say("Hello"))).headers.get("x-thread-id")!;
      const before = await turns();
      const waiting = complete(slow(false), { "x-thread-id": thread });
      await expect.poll(async () => (await turns()).begun).toBe(before.begun + 1);
      expect((await call("DELETE", `/threads/${thread}`)).status).toBe(200);
      const { status, body } = await waiting;
      expect([status, body.error.code]).toEqual([404, "thread_not_found"]);
      expect((await turns()).failed).toEqual([...before.failed, expect.toSatisfy((tokens) => tokens > 0)]);
    });
  });

  test("belongs to one pair of key and user", async () => {
    const { headers } = await complete(say("Mine", { user: "ada" }));
    const thread = { "x-thread-id": headers.get("x-thread-id")! };
    for (const user of [undefined, "", "bob"]) {
      const { status, body } = await complete(say("Whose?", { user }), thread);
      expect([status, body.error.code]).toEqual([404, "thread_not_found"]);
    }
    expect((await complete(say("Mine", { user: "ada" }), thread)).status).toBe(200);
  });

  test("shows no trace of a refused turn", async () => {
    const { headers } = await complete(say("Hello"));
    const thread = headers.get("x-thread-id")!;
    await complete(say("/fail 400", { model: "offline/scripted" }), { "x-thread-id": thread });
    const { body } = await call("GET", `/threads/${thread}/messages`);
    expect(body.data).toHaveLength(2);
  });

  test("runs one turn at a time, and the second one waits", async () => {
    const { headers } = await complete(say("Hello"));
    const thread = { "x-thread-id": headers.get("x-thread-id")! };
    const slow = complete(say("/slow 0.3\n/say a b", { model: "offline/scripted" }), thread);
    const answers = await Promise.all([slow, complete(say("Me too"), thread)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  });
});

describe("attachments of a message", () => {
  const attached = (part: unknown) => ({
    model: "offline/echo",
    messages: [{ role: "user", content: [{ type: "text", text: "See" }, part] }],
  });

  test("are accepted in every form", async () => {
    const image = await complete(attached({ type: "image_url", image_url: { url: `data:image/png;base64,${png}` } }));
    expect(image.body.choices[0].message.content).toContain("image.png");
    const bare = await complete(attached({ type: "file", file: { file_data: png, filename: "notes.pdf" } }));
    expect(bare.body.choices[0].message.content).toContain("application/pdf");
    const { id } = (await call("POST", "/files", fileForm("stored words", "stored.txt"))).body;
    const byPart = await complete(attached({ type: "file", file: { file_id: id } }));
    expect(byPart.body.choices[0].message.content).toContain("stored.txt");
    const byField = await complete({ ...say("See"), attachments: [id] });
    expect(byField.body.choices[0].message.content).toContain("stored.txt");
    expect((await complete({ ...say("See"), attachments: [id], user: "ada" })).body.error.code).toBe("file_not_found");
  });

  test("remain after the deletion of the file that they were copied from", async () => {
    const { id } = (await call("POST", "/files", fileForm("gone soon", "gone.txt"))).body;
    const { headers } = await complete({ ...say("Keep this"), attachments: [id] });
    await call("DELETE", `/files/${id}`);
    const again = await complete(say("Still there?"), { "x-thread-id": headers.get("x-thread-id")! });
    expect(again.status).toBe(200);
    const { body } = await call("GET", `/threads/${headers.get("x-thread-id")}/messages`);
    expect(body.data[0].attachments).toEqual([{ filename: "gone.txt", mime_type: "text/plain", bytes: 9 }]);
  });

  test.each([
    ["a remote address", { type: "image_url", image_url: { url: "http://127.0.0.1:1/a.png" } }],
    ["another scheme", { type: "file", file: { file_data: "file:///etc/passwd" } }],
    ["no data and no id", { type: "file", file: {} }],
    ["bad base64", { type: "file", file: { file_data: "AA=A" } }],
  ])("are refused as invalid_attachment: %s", async (_name, part) => {
    const { status, body } = await complete(attached(part));
    expect([status, body.error.code]).toEqual([400, "invalid_attachment"]);
  });

  test("are refused when they are too many or too large", async () => {
    const part = { type: "image_url", image_url: { url: `data:image/png;base64,${png}` } };
    const many = await complete({ model: "offline/echo", messages: [{ role: "user", content: Array(17).fill(part) }] });
    expect([many.status, many.body.error.code]).toEqual([400, "too_many_attachments"]);
    const large = await complete(attached({ type: "file", file: { file_data: "A".repeat(34_952_536) } }));
    expect([large.status, large.body.error.code]).toEqual([400, "attachment_too_large"]);
  });
});

test.each([
  [{ response_format: { type: "json_object", schema: {} } }, "response_format.schema", /json_schema: \{name, schema\}/],
  [
    { tools: [{ type: "function", function: { name: "f" } }] },
    "tools[0].function.name",
    /run on the server.*definitions/,
  ],
  [
    { messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: "https://a.example/x.png" } }] }] },
    "messages[0].content[0].image_url.url",
    /never fetched: send the bytes/,
  ],
])("a field that cannot be honoured is refused with advice: %j", async (fields, param, message) => {
  const { status, body } = await complete(say("x", fields));
  expect([status, body.error.param]).toEqual([400, param]);
  expect(body.error.message).toMatch(message);
});

describe("the chat API refuses with", () => {
  const tool = (name: string) => ({ tools: [{ type: "function", function: { name } }] });
  test.each([
    ["model_not_found", say("x", { model: "nobody/knows" })],
    ["model_not_found", say("x", { model: "nobody" })],
    ["invalid_role", { model: "offline/echo", messages: [{ role: "wizard", content: "x" }] }],
    ["invalid_tool_choice", say("x", { tool_choice: "sometimes" })],
    [
      "invalid_tool_choice",
      say("x", { ...tool("web_search"), tool_choice: { type: "function", function: { name: "other" } } }),
    ],
    ["unknown_tool", say("x", tool("make_coffee"))],
    ["tool_not_configured", say("x", tool("web_search"))],
    ["unknown_collection", say("x", { knowledge: { collections: ["handbook"] } })],
    ["invalid_response_format", say("x", { response_format: { type: "yaml" } })],
    ["invalid_response_format", say("x", { response_format: { type: "json_object", schema: { type: "object" } } })],
    [
      "invalid_response_format",
      say("x", { response_format: { type: "json_schema", json_schema: { name: "no spaces", schema: {} } } }),
    ],
    ["invalid_response_format", say("x", { response_format: { type: "json_object" }, tool_choice: "required" })],
    [null, say("x", { messages: [{ role: "system", content: "only me" }] })],
    [
      null,
      say("x", {
        messages: [
          { role: "system", content: "me" },
          { role: "assistant", content: "x" },
        ],
        attachments: ["a"],
      }),
    ],
    [null, say("x", { temperature: "hot" })],
    [null, say("x", { model: 1 })],
    [null, []],
  ])("the code %s for %j", async (code, body) => {
    const answer = await complete(body);
    expect([answer.status, answer.body.error.code]).toEqual([400, code]);
    expect(answer.body.error).toHaveProperty("param");
    expect(answer.body.error.type).toBe("invalid_request_error");
  });

  test("the code invalid_thread_id for a thread id that is not a UUID", async () => {
    const { status, body } = await complete(say("x"), { "x-thread-id": "abc" });
    expect([status, body.error.code]).toEqual([400, "invalid_thread_id"]);
  });
});

describe("the models of an organization", () => {
  test("are listed, and can be read with a raw or an encoded slash in the id", async () => {
    const { body } = await call("GET", "/models");
    expect(body.data.map(({ id }: { id: string }) => id)).toContain("offline/echo");
    for (const id of ["offline/echo", "offline%2Fecho"])
      expect((await call("GET", `/models/${id}`)).body).toMatchObject({
        id: "offline/echo",
        object: "model",
        owned_by: "offline",
      });
    const unknown = await call("GET", "/models/offline/none");
    expect([unknown.status, unknown.body.error.code]).toEqual([404, "model_not_found"]);
  });
});
