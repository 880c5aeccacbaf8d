import { describe, expect, test } from "vitest";
import type { ModelRequest } from "#services/turns/model.ts";
import {
  modelRequest,
  collectFailure,
  filePart,
  finishEvent,
  collectEvents,
  outputText,
} from "#test/doubles/modelRequest.ts";
import { openModels } from "./index.ts";

const OFFLINE = { provider: "offline", api_key: "", base_url: null, guarded: false };
const model = openModels({ offline: true, privateHosts: [] }).open(OFFLINE);
const to =
  (name: string) =>
  (text: string, more: Partial<ModelRequest> = {}, files: Parameters<typeof modelRequest>[2] = []) =>
    modelRequest(text, { model: name, ...more }, files);

describe("offline/echo", () => {
  const echo = to("echo");

  test("repeats the last user message", async () => {
    const messages: ModelRequest["messages"] = [
      { role: "user", parts: [{ type: "text", text: "First" }] },
      { role: "assistant", parts: [{ type: "text", text: "First" }] },
      { role: "user", parts: [{ type: "text", text: "Second" }] },
      { role: "assistant", parts: [{ type: "text", text: "Well" }] },
    ];
    expect(outputText(await collectEvents(model, echo("", { messages })))).toBe("Second");
  });

  test("names each attachment with its type and size", async () => {
    const files = [filePart("dot.png", "image/png", "PNG"), filePart("ä.txt", "text/plain", "größer")];
    expect(outputText(await collectEvents(model, echo("Look", {}, files)))).toBe(
      "Look\n[dot.png, image/png, 3 bytes]\n[ä.txt, text/plain, 8 bytes]",
    );
  });

  test("reports its tokens", async () => {
    expect(finishEvent(await collectEvents(model, echo("Hello, world")))).toEqual({
      type: "finish",
      finish_reason: "stop",
      usage: { prompt_tokens: 7, completion_tokens: 3, cached_tokens: 0, reasoning_tokens: 0 },
    });
  });

  test("streams word by word, and a long text in larger pieces", async () => {
    const words = await collectEvents(model, echo(" one two  three\n", { streamed: true }));
    expect(words.slice(0, -1).map((event) => (event.type === "text" ? event.text : event.type))).toEqual([
      " one ",
      "two  ",
      "three\n",
    ]);
    const long = "word ".repeat(10_000);
    const pieces = await collectEvents(model, echo(long, { streamed: true }));
    expect(outputText(pieces)).toBe(long);
    expect(pieces.length).toBeLessThanOrEqual(257);
  });

  test.each([true, false])("answers an empty message with nothing (streamed: %s)", async (streamed) => {
    const events = await collectEvents(model, echo("", { streamed }));
    expect(events).toHaveLength(1);
    expect(finishEvent(events).usage.completion_tokens).toBe(0);
  });

  test("stops at the token limit", async () => {
    const events = await collectEvents(model, echo("one two three four", { max_output_tokens: 2 }));
    expect(outputText(events)).toBe("one two");
    expect(finishEvent(events)).toMatchObject({ finish_reason: "length", usage: { completion_tokens: 2 } });
  });

  test("stops before the first stop sequence", async () => {
    const events = await collectEvents(model, echo("one two three", { stop: ["three", "two", ""] }));
    expect(outputText(events)).toBe("one ");
    expect(finishEvent(events).finish_reason).toBe("stop");
  });

  test("answers in JSON if the request asks for it", async () => {
    const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
    const format = { type: "json_schema" as const, json_schema: { name: "place", schema } };
    expect(outputText(await collectEvents(model, echo("Where?", { response_format: format })))).toBe('{"city":""}');
    expect(outputText(await collectEvents(model, echo("Where?", { response_format: { type: "json_object" } })))).toBe(
      "{}",
    );
  });
});

describe("offline/extractive", () => {
  const extractive = to("extractive");
  const report = filePart(
    "report.md",
    "text/markdown",
    "# Report\n\nThe harvest was good. The bridge over the Aar was closed in March for repairs. Apples were cheap.\nNobody complained.",
  );

  test("quotes the matching sentence of an attachment", async () => {
    const answer = outputText(await collectEvents(model, extractive("When was the bridge closed?", {}, [report])));
    expect(answer).toBe("From report.md:\n> The bridge over the Aar was closed in March for repairs.");
  });

  test("reads attachments of earlier turns", async () => {
    const messages: ModelRequest["messages"] = [
      { role: "user", parts: [{ type: "text", text: "Keep this" }, report] },
      { role: "assistant", parts: [{ type: "text", text: "I will." }] },
      { role: "user", parts: [{ type: "text", text: "What did apples cost?" }] },
    ];
    expect(outputText(await collectEvents(model, extractive("", { messages })))).toBe(
      "From report.md:\n> Apples were cheap.",
    );
  });

  test("falls back on the conversation", async () => {
    const messages: ModelRequest["messages"] = [
      { role: "user", parts: [{ type: "text", text: "My cat is called Mia. It rains." }] },
      { role: "user", parts: [{ type: "text", text: "What is my cat called?" }] },
    ];
    expect(outputText(await collectEvents(model, extractive("", { messages })))).toBe(
      "From this conversation:\n> My cat is called Mia.",
    );
  });

  describe("with search_documents", () => {
    const tools = [{ name: "search_documents", description: "", parameters: {} }];
    const question = "When was the bridge closed?";
    const search = () => collectEvents(model, extractive(question, { tools }));
    const found = async (result: string, more: Partial<ModelRequest> = {}) => {
      const call = (await search()).find((event) => event.type === "tool_calls")!;
      const messages: ModelRequest["messages"] = [
        ...extractive(question, {}, [report]).messages,
        { role: "assistant", parts: [], calls: call.calls },
        { role: "tool", call_id: call.calls[0]!.id, parts: [{ type: "text", text: result }] },
      ];
      return collectEvents(model, extractive("", { tools, messages, ...more }));
    };
    const passage = (n: number, content: string) => ({
      document: "roads.pdf",
      reference: `p. ${n}`,
      url: `https://here.example/roads#page=${n}`,
      content,
    });

    test("searches for the question", async () => {
      expect(await search()).toMatchObject([
        { type: "tool_calls", calls: [{ name: "search_documents", arguments: JSON.stringify({ query: question }) }] },
        { type: "finish", finish_reason: "tool_calls" },
      ]);
    });

    test("quotes the best sentences of the passages, each with a citation", async () => {
      const results = [
        passage(3, "# Roads\n\nThe bridge was closed in March. It is blue."),
        passage(9, "Cats sleep."),
        passage(7, "Closed roads: the bridge, the tunnel."),
      ];
      const events = await found(JSON.stringify({ results }));
      const text =
        "From roads.pdf, p. 3:\n> The bridge was closed in March.\n\nFrom roads.pdf, p. 7:\n> Closed roads: the bridge, the tunnel.";
      expect(outputText(events)).toBe(text);
      expect(events.find(({ type }) => type === "citations")).toEqual({
        type: "citations",
        citations: [
          { url: "https://here.example/roads#page=3", title: "roads.pdf, p. 3", start_index: 0, end_index: 55 },
          {
            url: "https://here.example/roads#page=7",
            title: "roads.pdf, p. 7",
            start_index: 57,
            end_index: text.length,
          },
        ],
      });
    });

    test("quotes the beginning of the best passage if no passage shares a word with the question", async () => {
      const events = await found(JSON.stringify({ results: [passage(2, "Une. Deux. Trois.")] }));
      expect(outputText(events)).toBe("From roads.pdf, p. 2:\n> Une.\n> Deux.");
    });

    test.each(['{"results":[]}', '{"error":"The tool failed."}', "no JSON"])(
      "falls back on attachments after the result %s",
      async (none) => {
        expect(outputText(await found(none))).toBe(
          "From report.md:\n> The bridge over the Aar was closed in March for repairs.",
        );
      },
    );

    test("answers in JSON without a search", async () => {
      const events = await collectEvents(
        model,
        extractive(question, { tools, response_format: { type: "json_object" } }),
      );
      expect(outputText(events)).toBe("{}");
    });
  });

  test.each([
    ["no attachment", []],
    ["no matching sentence", [report]],
    ["only a binary attachment", [filePart("a.png", "image/png", "zebra zebra")]],
  ])("finds nothing if there is %s", async (_, files) => {
    expect(outputText(await collectEvents(model, extractive("Do zebras swim?", {}, files)))).toMatch(
      /^I found nothing about this\./,
    );
  });
});

describe("offline/scripted", () => {
  const scripted = to("scripted");

  test("follows /say, /reason and /finish", async () => {
    const events = await collectEvents(model, scripted("/reason Hm.\n/say Hello\n/say there\n/finish content_filter"));
    expect(events.slice(0, 2)).toEqual([
      { type: "reasoning", text: "Hm." },
      { type: "text", text: "Hello\nthere" },
    ]);
    expect(finishEvent(events)).toMatchObject({
      finish_reason: "content_filter",
      usage: { completion_tokens: 5, reasoning_tokens: 2 },
    });
  });

  test.each(["Just words", "/tool", "/rounds many", "/finish never", "/fail 200", "/slow forever", "/cutting", "/"])(
    "repeats %j, which is no command",
    async (line) => {
      expect(outputText(await collectEvents(model, scripted(line)))).toBe(line);
    },
  );

  test.each([
    [502, "transient"],
    [429, "transient"],
    [400, "refused"],
  ])("fails with the status %i", async (status, kind) => {
    const { error, events } = await collectFailure(model, scripted(`/say Hello\n/fail ${status}`));
    expect(error).toMatchObject({ kind, status });
    expect(events).toEqual([]);
  });

  test("breaks off in the middle after /cut", async () => {
    const { error, events } = await collectFailure(
      model,
      scripted("/cut\n/say one two three four", { streamed: true }),
    );
    expect(error.kind).toBe("cut");
    expect(outputText(events)).toBe("one two ");
    expect((await collectFailure(model, scripted("/cut\n/say one two"))).events).toEqual([]);
    expect((await collectFailure(model, scripted("/cut", { streamed: true }))).events).toEqual([]);
  });

  describe("with tools", () => {
    const script = (lines: string, rounds: number) => {
      const round = (n: number): ModelRequest["messages"] => [
        { role: "assistant", parts: [], calls: [{ id: `c${n}`, name: "search", arguments: "{}" }] },
        { role: "tool", call_id: `c${n}`, parts: [{ type: "text", text: `result ${n}` }] },
      ];
      const { messages } = scripted(lines);
      return collectEvents(
        model,
        scripted("", { messages: [...messages, ...Array.from({ length: rounds }, (_, n) => round(n)).flat()] }),
      );
    };
    const calls = [
      { name: "search", arguments: '{"query": "a b"}' },
      { name: "read", arguments: "{}" },
    ];
    const lines = '/tool search {"query": "a b"}\n/tool read';

    test("calls them all at once, then quotes their results", async () => {
      expect(await script(lines, 0)).toMatchObject([
        { type: "tool_calls", calls },
        { type: "finish", finish_reason: "tool_calls" },
      ]);
      expect(outputText(await script(lines, 1))).toBe("search: result 0");
    });

    test("calls them in as many /rounds, then follows /say", async () => {
      const more = `${lines}\n/rounds 2\n/say Done`;
      expect(await script(more, 1)).toMatchObject([{ type: "tool_calls", calls }, { type: "finish" }]);
      expect(outputText(await script(more, 2))).toBe("Done");
    });

    test("fails after their results", async () => {
      await expect(script(`${lines}\n/fail 502`, 1)).rejects.toMatchObject({ kind: "transient", status: 502 });
    });
  });

  test("waits before each chunk after /slow, until it is aborted", async () => {
    const start = performance.now();
    expect(outputText(await collectEvents(model, scripted("/slow 0.02\n/say one two three", { streamed: true })))).toBe(
      "one two three",
    );
    expect(performance.now() - start).toBeGreaterThanOrEqual(55);
    const slow = collectEvents(model, scripted("/slow 3600\n/say one"), AbortSignal.timeout(10));
    await expect(slow).rejects.toMatchObject({ name: "AbortError" });
  });
});

test.each(["none", "", "constructor"])("there is no model offline/%s", async (name) => {
  expect((await collectFailure(model, to(name)("Hello"))).error).toMatchObject({ kind: "refused", status: 404 });
});

test("an aborted request ends without an answer", async () => {
  await expect(collectEvents(model, to("echo")("Hello"), AbortSignal.abort())).rejects.toMatchObject({
    name: "AbortError",
  });
});

test("offline models that are off refuse every request", async () => {
  const off = openModels({ offline: false, privateHosts: [] }).open(OFFLINE);
  expect((await collectFailure(off, to("echo")("Hello"))).error.kind).toBe("refused");
});
