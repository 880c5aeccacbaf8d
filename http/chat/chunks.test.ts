import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { TurnEnd } from "#events/ports.ts";
import { chunksFor, NOTHING_SENT, type StreamProgress } from "./chunks.ts";

const head = { turn_id: "t1", created: 17, model: "a/b", include_usage: false };
const usage = { prompt_tokens: 3, completion_tokens: 2, cached_tokens: 1, reasoning_tokens: 1 };
const source = { url: "https://a.example", title: "A", start_index: 0, end_index: 5 };
const completed = (text: string, more: Partial<{ reasoning: string; citations: (typeof source)[] }> = {}): TurnEnd => ({
  status: "completed",
  said: { text, reasoning: "", citations: [], ...more },
  finish_reason: "stop",
  usage,
});
const parse = (stream: string) =>
  stream
    .split("\n\n")
    .filter(Boolean)
    .map((frame) => (frame === "data: [DONE]" ? "[DONE]" : JSON.parse(frame.slice("data: ".length))));
const deltas = (stream: string) => parse(stream).map((chunk) => (chunk === "[DONE]" ? chunk : chunk.choices[0].delta));

describe("a stream of chunks", () => {
  test("ends with the calls of the caller's own tools", () => {
    const calls = [{ id: "c1", name: "f", arguments: "{}", client: true as const }];
    const end: TurnEnd = {
      status: "completed",
      said: { text: "Well", reasoning: "", citations: [], calls },
      finish_reason: "tool_calls",
      usage,
    };
    expect(parse(chunksFor(head).ending(NOTHING_SENT, end)).map((chunk) => chunk.choices?.[0] ?? chunk)).toMatchObject([
      { delta: { content: "Well" }, finish_reason: null },
      {
        delta: { tool_calls: [{ index: 0, id: "c1", type: "function", function: { name: "f", arguments: "{}" } }] },
        finish_reason: null,
      },
      { delta: {}, finish_reason: "tool_calls" },
      "[DONE]",
    ]);
  });

  test("ends with an error when the turn ended with another text than was sent", () => {
    const chunks = chunksFor(head);
    const [sent] = chunks.fold(NOTHING_SENT, { attempt: 1, n: 0, type: "text", text: "One" });
    const [last] = parse(chunks.ending(sent, completed("Another")));
    expect(last).toMatchObject({ error: { type: "api_error" } });
    expect(chunks.ending(sent, completed("Another"))).not.toContain("[DONE]");
  });

  test("starts with the role, then sends reasoning, text and citations", () => {
    const chunks = chunksFor(head);
    let sent = NOTHING_SENT;
    let stream = chunks.open();
    for (const frame of [
      { attempt: 1, n: 0, type: "reasoning" as const, text: "Hm" },
      { attempt: 1, n: 1, type: "text" as const, text: 'He"l\nlo' },
      { attempt: 1, n: 2, type: "citations" as const, citations: [source] },
    ]) {
      const [next, text] = chunks.fold(sent, frame);
      sent = next;
      stream += text;
    }
    stream += chunks.ending(sent, completed('He"l\nlo', { reasoning: "Hm", citations: [source] }));
    expect(deltas(stream)).toEqual([
      { role: "assistant", content: "" },
      { reasoning_content: "Hm" },
      { content: 'He"l\nlo' },
      { annotations: [{ type: "url_citation", url_citation: source }] },
      {},
      "[DONE]",
    ]);
    expect(parse(stream)[0]).toEqual({
      id: "chatcmpl-t1",
      object: "chat.completion.chunk",
      created: 17,
      model: "a/b",
      choices: [{ index: 0, delta: { role: "assistant", content: "" }, logprobs: null, finish_reason: null }],
    });
  });

  test("names one model, also if another target answers a later round", () => {
    const chunks = chunksFor({ ...head, model: "alias" });
    const target = (model: string) => ({ attempt: 1, n: 0, type: "target" as const, model });
    const words = (text: string) => ({ attempt: 1, n: 0, type: "text" as const, text });
    chunks.fold(NOTHING_SENT, target("a/one"));
    const [first, one] = chunks.fold(NOTHING_SENT, words("Wait. "));
    const stream = chunks.open() + one;
    chunks.fold(first, target("b/two"));
    const [second, two] = chunks.fold(first, words("Found."));
    const end = { ...completed("Wait. Found."), model: "b/two" };
    const models = parse(stream + two + chunks.ending(second, end)).map(({ model }) => model);
    expect(new Set(models)).toEqual(new Set(["a/one", undefined]));
  });

  test("has the whole text, however much of it arrived as frames", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 8 }), { maxLength: 12 }), fc.nat(10), (words, heard) => {
        const chunks = chunksFor(head);
        let sent: StreamProgress = NOTHING_SENT;
        let stream = chunks.open();
        for (const [n, text] of words.slice(0, heard).entries()) {
          const [next, out] = chunks.fold(sent, { attempt: 1, n, type: "text", text });
          sent = next;
          stream += out;
        }
        stream += chunks.ending(sent, completed(words.join("")));
        const said = deltas(stream).map((delta) => delta.content ?? "");
        expect(said.join("")).toBe(words.join(""));
      }),
    );
  });

  test("continues with a newer attempt, without repeating a word", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.nat(), fc.nat(), (said, before, recorded) => {
        const chunks = chunksFor(head);
        const cut = before % (said.length + 1);
        const first = chunks.fold(NOTHING_SENT, { attempt: 1, n: 0, type: "text", text: said.slice(0, cut) });
        // the recorded text may be shorter or longer than what was sent
        const again = recorded % (said.length + 1);
        const second = chunks.fold(first[0], { attempt: 2, n: 0, type: "text", text: said.slice(0, again) });
        const third = chunks.fold(second[0], { attempt: 2, n: 1, type: "text", text: said.slice(again) });
        const stream = first[1] + second[1] + third[1] + chunks.ending(third[0], completed(said));
        expect(
          deltas(stream)
            .map((delta) => delta.content ?? "")
            .join(""),
        ).toBe(said);
      }),
    );
  });

  test("sends nothing more of an attempt that contradicts what was sent", () => {
    const chunks = chunksFor(head);
    const texts = [
      [1, "Once upon"],
      [2, "Once "],
      [2, "more"],
      [2, " and again"],
    ] as const;
    let sent = NOTHING_SENT;
    let stream = "";
    for (const [n, [attempt, text]] of texts.entries()) {
      const [next, out] = chunks.fold(sent, { attempt, n, type: "text", text });
      sent = next;
      stream += out;
    }
    expect(deltas(stream)).toEqual([{ content: "Once upon" }]);
  });

  test("ends with an error when a newer attempt refused in other words than were sent", () => {
    const chunks = chunksFor(head);
    const refusal = (attempt: number, text: string) => ({ attempt, n: 0, type: "refusal" as const, text });
    const [first, one] = chunks.fold(NOTHING_SENT, refusal(1, "I will not."));
    const [second, two] = chunks.fold(first, refusal(2, "Sorry."));
    expect([deltas(one), two]).toEqual([[{ refusal: "I will not." }], ""]);
    const ending = (text: string) =>
      chunks.ending(second, {
        status: "completed",
        said: { text: "", reasoning: "", citations: [], refusal: text },
        finish_reason: "stop",
        usage,
      });
    expect(parse(ending("Sorry."))).toMatchObject([{ error: { type: "api_error" } }]);
    expect(deltas(ending("I will not."))).toEqual([{}, "[DONE]"]);
  });

  test("cites each source once, whichever attempt does", () => {
    const chunks = chunksFor(head);
    const other = { ...source, url: "https://b.example" };
    const annotations = (stream: string) => deltas(stream).flatMap((delta) => delta.annotations ?? []);
    const cited = (attempt: number, ...citations: (typeof source)[]) => ({
      attempt,
      n: 0,
      type: "citations" as const,
      citations,
    });
    const [first, one] = chunks.fold(NOTHING_SENT, cited(1, source));
    const [second, two] = chunks.fold(first, cited(2, source, other));
    const last = chunks.ending(second, completed("", { citations: [source, other, source] }));
    expect([one, two, last].map((stream) => annotations(stream).length)).toEqual([1, 1, 1]);
  });

  test("has usage null on each chunk, then one chunk with usage and without choices", () => {
    const stream = chunksFor({ ...head, include_usage: true }).ending(NOTHING_SENT, completed("Hi"));
    const [content, finish, last] = parse(stream);
    expect([content.usage, finish.usage]).toEqual([null, null]);
    expect(last).toMatchObject({
      choices: [],
      usage: {
        prompt_tokens: 3,
        completion_tokens: 2,
        total_tokens: 5,
        prompt_tokens_details: { cached_tokens: 1 },
        completion_tokens_details: { reasoning_tokens: 1 },
      },
    });
  });

  test("of a stopped turn ends like that of a completed one", () => {
    const stopped: TurnEnd = {
      status: "stopped",
      said: { text: "Half", reasoning: "", citations: [] },
      message: "",
      usage,
    };
    const stream = chunksFor(head).ending(NOTHING_SENT, stopped);
    expect(parse(stream).at(-2).choices[0].finish_reason).toBe("stop");
    expect(stream.endsWith("data: [DONE]\n\n")).toBe(true);
  });

  test("of a failed turn ends with an error and without [DONE]", () => {
    const failed: TurnEnd = {
      status: "failed",
      said: { text: "Half", reasoning: "", citations: [] },
      message: "It broke off.",
      usage,
    };
    const frames = parse(chunksFor(head).ending({ ...NOTHING_SENT, text: "Ha" }, failed));
    expect(frames[0].choices[0].delta).toEqual({ content: "lf" });
    expect(frames.slice(1)).toEqual([
      { error: { message: "It broke off.", type: "api_error", param: null, code: null } },
    ]);
  });
});
