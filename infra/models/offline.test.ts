import { describe, expect, test } from "vitest";
import type { ModelRequest } from "#services/turns/model.ts";
import { asking, failed, file, finishOf, heard, textOf } from "#test/doubles/modelRequest.ts";
import { openModels } from "./index.ts";

const OFFLINE = { provider: "offline", api_key: "", base_url: null, guarded: false };
const model = openModels({ offline: true, privateHosts: [] }).open(OFFLINE);
const to =
  (name: string) =>
  (text: string, more: Partial<ModelRequest> = {}, files: Parameters<typeof asking>[2] = []) =>
    asking(text, { model: name, ...more }, files);

describe("offline/echo", () => {
  const echo = to("echo");

  test("repeats what the user said last", async () => {
    const messages: ModelRequest["messages"] = [
      { role: "user", parts: [{ type: "text", text: "First" }] },
      { role: "assistant", parts: [{ type: "text", text: "First" }] },
      { role: "user", parts: [{ type: "text", text: "Second" }] },
      { role: "assistant", parts: [{ type: "text", text: "Well" }] },
    ];
    expect(textOf(await heard(model, echo("", { messages })))).toBe("Second");
  });

  test("names each attachment with type and size", async () => {
    const files = [file("dot.png", "image/png", "PNG"), file("ä.txt", "text/plain", "größer")];
    expect(textOf(await heard(model, echo("Look", {}, files)))).toBe(
      "Look\n[dot.png, image/png, 3 bytes]\n[ä.txt, text/plain, 8 bytes]",
    );
  });

  test("counts tokens", async () => {
    expect(finishOf(await heard(model, echo("Hello, world")))).toEqual({
      type: "finish",
      finish_reason: "stop",
      usage: { prompt_tokens: 7, completion_tokens: 3, cached_tokens: 0, reasoning_tokens: 0 },
    });
  });

  test("streams by words, a long text in larger pieces", async () => {
    const words = await heard(model, echo(" one two  three\n", { streamed: true }));
    expect(words.slice(0, -1).map((event) => (event.type === "text" ? event.text : event.type))).toEqual([
      " one ",
      "two  ",
      "three\n",
    ]);
    const long = "word ".repeat(10_000);
    const pieces = await heard(model, echo(long, { streamed: true }));
    expect(textOf(pieces)).toBe(long);
    expect(pieces.length).toBeLessThanOrEqual(257);
  });

  test.each([true, false])("says nothing to nothing (streamed: %s)", async (streamed) => {
    const events = await heard(model, echo("", { streamed }));
    expect(events).toHaveLength(1);
    expect(finishOf(events).usage.completion_tokens).toBe(0);
  });

  test("is cut by the token limit", async () => {
    const events = await heard(model, echo("one two three four", { max_output_tokens: 2 }));
    expect(textOf(events)).toBe("one two");
    expect(finishOf(events)).toMatchObject({ finish_reason: "length", usage: { completion_tokens: 2 } });
  });

  test("ends before the first stop sequence", async () => {
    const events = await heard(model, echo("one two three", { stop: ["three", "two", ""] }));
    expect(textOf(events)).toBe("one ");
    expect(finishOf(events).finish_reason).toBe("stop");
  });

  test("answers in JSON where that is wanted", async () => {
    const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
    const format = { type: "json_schema" as const, json_schema: { name: "place", schema } };
    expect(textOf(await heard(model, echo("Where?", { response_format: format })))).toBe('{"city":""}');
    expect(textOf(await heard(model, echo("Where?", { response_format: { type: "json_object" } })))).toBe("{}");
  });
});

describe("offline/extractive", () => {
  const extractive = to("extractive");
  const report = file(
    "report.md",
    "text/markdown",
    "# Report\n\nThe harvest was good. The bridge over the Aar was closed in March for repairs. Apples were cheap.\nNobody complained.",
  );

  test("quotes the sentence of an attachment that answers", async () => {
    const answer = textOf(await heard(model, extractive("When was the bridge closed?", {}, [report])));
    expect(answer).toBe("From report.md:\n> The bridge over the Aar was closed in March for repairs.");
  });

  test("reads attachments of earlier turns", async () => {
    const messages: ModelRequest["messages"] = [
      { role: "user", parts: [{ type: "text", text: "Keep this" }, report] },
      { role: "assistant", parts: [{ type: "text", text: "I will." }] },
      { role: "user", parts: [{ type: "text", text: "What did apples cost?" }] },
    ];
    expect(textOf(await heard(model, extractive("", { messages })))).toBe("From report.md:\n> Apples were cheap.");
  });

  test("falls back on what was said before", async () => {
    const messages: ModelRequest["messages"] = [
      { role: "user", parts: [{ type: "text", text: "My cat is called Mia. It rains." }] },
      { role: "user", parts: [{ type: "text", text: "What is my cat called?" }] },
    ];
    expect(textOf(await heard(model, extractive("", { messages })))).toBe(
      "From this conversation:\n> My cat is called Mia.",
    );
  });

  describe("where it may search", () => {
    const tools = [{ name: "search_documents", description: "", parameters: {} }];
    const question = "When was the bridge closed?";
    const asked = () => heard(model, extractive(question, { tools }));
    const found = async (result: string, more: Partial<ModelRequest> = {}) => {
      const call = (await asked()).find((event) => event.type === "tool_calls")!;
      const messages: ModelRequest["messages"] = [
        ...extractive(question, {}, [report]).messages,
        { role: "assistant", parts: [], calls: call.calls },
        { role: "tool", call_id: call.calls[0]!.id, parts: [{ type: "text", text: result }] },
      ];
      return heard(model, extractive("", { tools, messages, ...more }));
    };
    const passage = (n: number, content: string) => ({
      document: "roads.pdf",
      reference: `p. ${n}`,
      url: `https://here.example/roads#page=${n}`,
      content,
    });

    test("asks for passages about the question", async () => {
      expect(await asked()).toMatchObject([
        { type: "tool_calls", calls: [{ name: "search_documents", arguments: JSON.stringify({ query: question }) }] },
        { type: "finish", finish_reason: "tool_calls" },
      ]);
    });

    test("quotes the best sentences of the passages, and cites each where it stands", async () => {
      const results = [
        passage(3, "# Roads\n\nThe bridge was closed in March. It is blue."),
        passage(9, "Cats sleep."),
        passage(7, "Closed roads: the bridge, the tunnel."),
      ];
      const events = await found(JSON.stringify({ results }));
      const text =
        "From roads.pdf, p. 3:\n> The bridge was closed in March.\n\nFrom roads.pdf, p. 7:\n> Closed roads: the bridge, the tunnel.";
      expect(textOf(events)).toBe(text);
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

    test("quotes how the best passage begins where none has words of the question", async () => {
      const events = await found(JSON.stringify({ results: [passage(2, "Une. Deux. Trois.")] }));
      expect(textOf(events)).toBe("From roads.pdf, p. 2:\n> Une.\n> Deux.");
    });

    test.each(['{"results":[]}', '{"error":"The tool failed."}', "no JSON"])(
      "reads attachments after %s",
      async (none) => {
        expect(textOf(await found(none))).toBe(
          "From report.md:\n> The bridge over the Aar was closed in March for repairs.",
        );
      },
    );

    test("answers in JSON at once where that is wanted", async () => {
      const events = await heard(model, extractive(question, { tools, response_format: { type: "json_object" } }));
      expect(textOf(events)).toBe("{}");
    });
  });

  test.each([
    ["nothing to read", []],
    ["nothing that fits", [report]],
    ["only bytes that are no text", [file("a.png", "image/png", "zebra zebra")]],
  ])("says so when there is %s", async (_, files) => {
    expect(textOf(await heard(model, extractive("Do zebras swim?", {}, files)))).toMatch(
      /^I found nothing about this\./,
    );
  });
});

describe("offline/scripted", () => {
  const scripted = to("scripted");

  test("says, thinks and finishes as told", async () => {
    const events = await heard(model, scripted("/reason Hm.\n/say Hello\n/say there\n/finish content_filter"));
    expect(events.slice(0, 2)).toEqual([
      { type: "reasoning", text: "Hm." },
      { type: "text", text: "Hello\nthere" },
    ]);
    expect(finishOf(events)).toMatchObject({
      finish_reason: "content_filter",
      usage: { completion_tokens: 5, reasoning_tokens: 2 },
    });
  });

  test.each(["Just words", "/tool", "/rounds many", "/finish never", "/fail 200", "/slow forever", "/cutting", "/"])(
    "says %j as it is",
    async (line) => {
      expect(textOf(await heard(model, scripted(line)))).toBe(line);
    },
  );

  test.each([
    [502, "transient"],
    [429, "transient"],
    [400, "refused"],
  ])("fails with %i", async (status, kind) => {
    const { error, said } = await failed(model, scripted(`/say Hello\n/fail ${status}`));
    expect(error).toMatchObject({ kind, status });
    expect(said).toEqual([]);
  });

  test("breaks off in the middle", async () => {
    const { error, said } = await failed(model, scripted("/cut\n/say one two three four", { streamed: true }));
    expect(error.kind).toBe("cut");
    expect(textOf(said)).toBe("one two ");
    expect((await failed(model, scripted("/cut\n/say one two"))).said).toEqual([]);
    expect((await failed(model, scripted("/cut", { streamed: true }))).said).toEqual([]);
  });

  describe("with tools", () => {
    const script = (lines: string, rounds: number) => {
      const round = (n: number): ModelRequest["messages"] => [
        { role: "assistant", parts: [], calls: [{ id: `c${n}`, name: "search", arguments: "{}" }] },
        { role: "tool", call_id: `c${n}`, parts: [{ type: "text", text: `result ${n}` }] },
      ];
      const { messages } = scripted(lines);
      return heard(
        model,
        scripted("", { messages: [...messages, ...Array.from({ length: rounds }, (_, n) => round(n)).flat()] }),
      );
    };
    const calls = [
      { name: "search", arguments: '{"query": "a b"}' },
      { name: "read", arguments: "{}" },
    ];
    const lines = '/tool search {"query": "a b"}\n/tool read';

    test("calls them all at once, then tells their results briefly", async () => {
      expect(await script(lines, 0)).toMatchObject([
        { type: "tool_calls", calls },
        { type: "finish", finish_reason: "tool_calls" },
      ]);
      expect(textOf(await script(lines, 1))).toBe("search: result 0");
    });

    test("says what it shall say after them, so many rounds", async () => {
      const more = `${lines}\n/rounds 2\n/say Done`;
      expect(await script(more, 1)).toMatchObject([{ type: "tool_calls", calls }, { type: "finish" }]);
      expect(textOf(await script(more, 2))).toBe("Done");
    });

    test("fails after them", async () => {
      await expect(script(`${lines}\n/fail 502`, 1)).rejects.toMatchObject({ kind: "transient", status: 502 });
    });
  });

  test("waits before each chunk, until nobody listens any more", async () => {
    const begun = performance.now();
    expect(textOf(await heard(model, scripted("/slow 0.02\n/say one two three", { streamed: true })))).toBe(
      "one two three",
    );
    expect(performance.now() - begun).toBeGreaterThanOrEqual(55);
    const slow = heard(model, scripted("/slow 3600\n/say one"), AbortSignal.timeout(10));
    await expect(slow).rejects.toMatchObject({ name: "AbortError" });
  });
});

test.each(["none", "", "constructor"])("there is no model offline/%s", async (name) => {
  expect((await failed(model, to(name)("Hello"))).error).toMatchObject({ kind: "refused", status: 404 });
});

test("an aborted request says nothing", async () => {
  await expect(heard(model, to("echo")("Hello"), AbortSignal.abort())).rejects.toMatchObject({ name: "AbortError" });
});

test("where the offline models are off, they refuse", async () => {
  const off = openModels({ offline: false, privateHosts: [] }).open(OFFLINE);
  expect((await failed(off, to("echo")("Hello"))).error.kind).toBe("refused");
});
