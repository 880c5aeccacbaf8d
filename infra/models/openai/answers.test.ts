import { describe, expect, test } from "vitest";
import { streamReply } from "#test/doubles/dialect.ts";
import { callsEvent, collectEvents, collectFailure, outputText, reasoningText } from "#test/doubles/modelRequest.ts";
import { OPENAI } from "#test/doubles/openai/dialect.ts";
import { frame } from "#test/doubles/openai/reply.ts";
import { useDouble } from "#test/doubles/useDouble.ts";

/* Answers of OpenAI, and of compatible servers with peculiarities. */

const { double, open, request } = useDouble(OPENAI);

describe.each([{ streamed: false }, { streamed: true }])("an answer (streamed: $streamed)", ({ streamed }) => {
  const answer = () => collectEvents(open(), request("Is it?", { streamed }));

  test.each(["reasoning_content", "reasoning"] as const)(
    "has the reasoning of the field %s",
    async (reasoning_field) => {
      double().answers({ reasoning: "Let me see.", reasoning_field, text: "Yes." });
      const events = await answer();
      expect(events[0]!.type).toBe("reasoning");
      expect([reasoningText(events), outputText(events)]).toEqual(["Let me see.", "Yes."]);
    },
  );

  test("has its sources as citations, without other annotations", async () => {
    const url_citation = { url: "https://example.com/a", title: "A", start_index: 0, end_index: 4 };
    double().answers({
      annotations: [{ type: "url_citation", url_citation }, { type: "file_path", file_id: "f" }, null],
    });
    expect(await answer()).toContainEqual({ type: "citations", citations: [url_citation] });
  });
});

describe("a buffered answer", () => {
  const buffered = () => request("Hello");

  test.each(["{}", '"hello"', "[]", "null"])("that is %s is no chat completion", async (body) => {
    double().answers({ status: 200, body });
    expect((await collectFailure(open(), buffered())).error.kind).toBe("refused");
  });

  test("that is a web page is no chat completion", async () => {
    double().answers({ status: 200, headers: { "content-type": "text/html" }, body: "<h1>Welcome</h1>" });
    expect((await collectFailure(open(), buffered())).error.kind).toBe("refused");
  });

  test.each(['{"choices":[{"message":{"content":"Wel', '{"choices":[]}'])("that is %s is cut", async (body) => {
    double().answers({ status: 200, body });
    expect((await collectFailure(open(), buffered())).error.kind).toBe("cut");
  });

  test("whose connection breaks is cut", async () => {
    double().answers({
      write: (response) => {
        response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
        response.write('{"choices":', () => response.destroy());
      },
    });
    expect((await collectFailure(open(), buffered())).error.kind).toBe("cut");
  });

  test.each([
    [
      "a list of parts",
      { content: [{ type: "text", text: "Good " }, { type: "text", text: "day" }, { type: "x" }] },
      "Good day",
    ],
  ])("can have its text in %s", async (_, message, text) => {
    double().answers({ status: 200, body: { choices: [{ message, finish_reason: "stop" }] } });
    expect(outputText(await collectEvents(open(), buffered()))).toBe(text);
  });
});

test.each([true, false])("a refusal is not text, streamed: %s", async (streamed) => {
  double().answers({ refusal: "I can not." });
  const events = await collectEvents(open(), request("Look", { streamed }));
  expect(events).toMatchObject([
    { type: "refusal", text: "I can not." },
    { type: "finish", finish_reason: "stop" },
  ]);
});

test("words that arrive in one packet with an error are kept", async () => {
  const word = frame({ choices: [{ index: 0, delta: { content: "Well, " } }] });
  double().answers(streamReply(word + frame({ error: { message: "Overloaded" } }) + word));
  const { error, events } = await collectFailure(open(), request("Look", { streamed: true }));
  expect([error.message, outputText(events)]).toEqual(["The provider broke off: Overloaded", "Well, "]);
});

describe("a stream with calls", () => {
  const calls = async (...tool_calls: unknown[]) => {
    const chunks = tool_calls.map((call) => frame({ choices: [{ index: 0, delta: { tool_calls: [call] } }] }));
    double().answers(streamReply(chunks.join("") + OPENAI.frames.finish));
    return callsEvent(await collectEvents(open(), request("Look", { streamed: true })))?.calls;
  };

  test("without indexes has whole calls", async () => {
    const call = (id: string, name: string) => ({ id, function: { name, arguments: `{"q":"${id}"}` } });
    expect(await calls(call("a", "search"), call("b", "read"))).toEqual([
      { id: "a", name: "search", arguments: '{"q":"a"}' },
      { id: "b", name: "read", arguments: '{"q":"b"}' },
    ]);
  });

  test("that all have one index keeps them apart by their ids", async () => {
    const call = (id: string, name: string, args: string) => ({ index: 0, id, function: { name, arguments: args } });
    const rest = { index: 0, function: { arguments: '"b"}' } };
    expect(await calls(call("a", "search", '{"q":"a"}'), call("b", "search", '{"q":'), rest)).toEqual([
      { id: "a", name: "search", arguments: '{"q":"a"}' },
      { id: "b", name: "search", arguments: '{"q":"b"}' },
    ]);
  });

  test("whose pieces have new ids has one call by the name of the first", async () => {
    const piece = (id: string, args: string) => ({ index: 0, id, function: { arguments: args } });
    const first = { index: 0, id: "a", function: { name: "search", arguments: "" } };
    expect(await calls(first, piece("b", '{"q":'), piece("c", '"a"}'))).toEqual([
      { id: "a", name: "search", arguments: '{"q":"a"}' },
    ]);
  });

  test("without ids gets ids", async () => {
    const name = (one: string, args: string) => ({ index: 0, function: { name: one, arguments: args } });
    expect(await calls(name("search", "{"), name("", "}"))).toEqual([
      { id: expect.stringMatching(/^call_/), name: "search", arguments: "{}" },
    ]);
  });

  test("with ids that cannot name one call each gets others", async () => {
    const call = (index: number, id: string) => ({
      index,
      id,
      function: { name: "search", arguments: `{"n":${index}}` },
    });
    const found = (await calls(call(0, "same"), call(1, "same"), call(2, "x".repeat(257)), call(3, "own")))!;
    expect(found.map(({ id }) => id)).toEqual([
      "same",
      expect.stringMatching(/^call_/),
      expect.stringMatching(/^call_/),
      "own",
    ]);
    expect(new Set(found.map(({ id }) => id)).size).toBe(4);
    expect(found.map(({ arguments: args }) => args)).toEqual(['{"n":0}', '{"n":1}', '{"n":2}', '{"n":3}']);
  });

  test.each([null, 5, {}, { function: null }, { index: -1, id: 7, function: { name: 3 } }])(
    "ignores the call %j",
    async (call) => {
      expect(await calls(call)).toBeUndefined();
    },
  );
});
