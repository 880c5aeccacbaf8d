import { ResponseStream } from "openai/lib/responses/ResponseStream";
import { describe, expect, test } from "vitest";
import type { Frame, FramePayload, TurnEnd } from "#events/ports.ts";
import { NO_USAGE } from "#events/thread.ts";
import { eventsIn, expectStream } from "#test/agents/grammar.ts";
import { countRounds } from "#test/countRounds.ts";
import { RESPONSE_HEAD } from "#test/samples.ts";
import type { FramePlace } from "../turns/frameReader.ts";
import { encodeEvent, type NumberedEvent } from "./encodeEvents.ts";
import { createStream, REGENERATED_MESSAGE } from "./responseStream.ts";
import { buildResponse } from "./storedResponse.ts";

const frame = (payload: FramePayload, attempt = 1): Exclude<Frame, { type: "end" }> => ({ ...payload, attempt, n: 0 });
const said = { text: "", reasoning: "", citations: [] };
const completed: TurnEnd = { status: "completed", said, finish_reason: "stop", usage: NO_USAGE };

const toSse = (events: NumberedEvent[]): string => events.map(encodeEvent).join("");
const parsed = (sse: string): any[] => [...sse.matchAll(/^data: (.*)$/gm)].map(([, json]) => JSON.parse(json!));
const call = { id: "call_1", name: "lookup", arguments: '{"q":1}' };
const TOOL_TURN: FramePayload[] = [
  { type: "reasoning", text: "Let me look." },
  { type: "text", text: "Looking. " },
  { type: "calls", calls: [call] },
  { type: "called", call: 0, status: "completed" },
  { type: "text", text: "\n\nFound" },
  { type: "text", text: " it." },
];
const cited: TurnEnd = {
  ...completed,
  said: { ...said, citations: [{ url: "https://a.example/", title: "A", start_index: 0, end_index: 3 }] },
};

const textOf = (frames: FramePayload[]): string =>
  frames.map((each) => (each.type === "text" ? each.text : "")).join("");

function play(frames: FramePayload[], end: TurnEnd, from = RESPONSE_HEAD, startAfter = -1): string {
  const stream = createStream(from, { startAfter, newest: undefined });
  const opened = stream.open();
  const next = frames.flatMap((each) => stream.next(frame(each)));
  return toSse([...opened, ...next, ...stream.end(end, 1_700_000_001)]);
}

test("calls of the caller's own tools end a response without a message, also where other calls are hidden", () => {
  const own = { ...call, id: "call_2", client: true as const };
  const frames: FramePayload[] = [
    { type: "calls", calls: [call, own] },
    { type: "called", call: 0, status: "completed" },
  ];
  const output = (end: TurnEnd, from = RESPONSE_HEAD) =>
    parsed(play(frames, end, from))
      .at(-1)
      .response.output.map(({ call_id, status }: any) => [call_id, status]);
  const shown = [
    ["call_1", "completed"],
    ["call_2", "completed"],
  ];
  expect(output(completed)).toEqual(shown);
  expect(output(completed, { ...RESPONSE_HEAD, expose_tool_items: false })).toEqual([shown[1]]);
  const stopped: TurnEnd = { status: "stopped", said, message: "", usage: NO_USAGE };
  expect(output(stopped, { ...RESPONSE_HEAD, expose_tool_items: false })).toEqual([["call_2", "incomplete"]]);
});

test("a refusal is a part of its message, after the text before it", () => {
  const refusal: FramePayload = { type: "refusal", text: "I can not." };
  const outputs = [[refusal], [{ type: "text" as const, text: "Hm." }, refusal]].map((frames) => {
    const events = parsed(play(frames, completed));
    return [events.at(-1).response.output[0].content, events.map(({ type }) => type.replace("response.", ""))];
  });
  const part = { type: "refusal", refusal: "I can not." };
  const around = (...types: string[]) => [
    "created",
    "in_progress",
    "output_item.added",
    ...types,
    "content_part.added",
    "content_part.done",
    "output_item.done",
    "completed",
  ];
  expect(outputs).toEqual([
    [[part], around()],
    [
      [{ type: "output_text", text: "Hm.", annotations: [], logprobs: [] }, part],
      around("content_part.added", "output_text.delta", "output_text.done", "content_part.done"),
    ],
  ]);
});

describe("the stream of a response", () => {
  const events = parsed(play(TOOL_TURN, cited));

  test("is numbered from 0 without gaps, and each event line equals the type", () => {
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, n) => n));
    const names = [...play(TOOL_TURN, cited).matchAll(/^event: (.*)$/gm)].map(([, name]) => name);
    expect(names).toEqual(events.map(({ type }) => type));
  });

  test("sends the events of each item in order", () => {
    expect(events.map(({ type, output_index: at }) => (at === undefined ? type : `${at} ${type}`))).toEqual([
      "response.created",
      "response.in_progress",
      "0 response.output_item.added",
      "0 response.reasoning_summary_text.delta",
      "0 response.reasoning_summary_text.done",
      "0 response.output_item.done",
      "1 response.output_item.added",
      "1 response.content_part.added",
      "1 response.output_text.delta",
      "1 response.output_text.done",
      "1 response.content_part.done",
      "1 response.output_item.done",
      "2 response.output_item.added",
      "2 response.function_call_arguments.delta",
      "2 response.function_call_arguments.done",
      "2 response.output_item.done",
      "3 response.output_item.added",
      "3 response.content_part.added",
      "3 response.output_text.delta",
      "3 response.output_text.delta",
      "3 response.output_text.annotation.added",
      "3 response.output_text.done",
      "3 response.content_part.done",
      "3 response.output_item.done",
      "response.completed",
    ]);
  });

  test("ends with the whole response, whose items are those of its events", () => {
    const { response } = events.at(-1);
    expect(response).toMatchObject({ status: "completed", error: null, completed_at: 1_700_000_001 });
    expect(response.output).toEqual(
      events.filter(({ type }) => type === "response.output_item.done").map(({ item }) => item),
    );
    expect(response.output.map(({ type }: { type: string }) => type)).toEqual([
      "reasoning",
      "message",
      "function_call",
      "message",
    ]);
    expect(response.output[2]).toMatchObject({
      ...call,
      id: expect.stringMatching(/^fc_/),
      call_id: "call_1",
      status: "completed",
    });
    expect(response.output[3].content).toEqual([
      {
        type: "output_text",
        text: "Found it.",
        annotations: [{ type: "url_citation", url: "https://a.example/", title: "A", start_index: 0, end_index: 9 }],
        logprobs: [],
      },
    ]);
  });

  test("continues after any event with exactly the rest", () => {
    const whole = play(TOOL_TURN, cited);
    const rest = (n: number) => parsed(play(TOOL_TURN, cited, RESPONSE_HEAD, n));
    for (const [n] of events.entries()) expect(rest(n)).toEqual(parsed(whole).slice(n + 1));
  });

  test("ends for a reader that has more events than were retained, and only once for one that has the end", async () => {
    const stopped: TurnEnd = { status: "stopped", said, message: "", usage: NO_USAGE };
    const replayed = async (startAfter: number) =>
      parsed(
        toSse(
          await createStream(RESPONSE_HEAD, { startAfter, newest: undefined }).replay(
            [{ type: "text", text: "half" }],
            stopped,
            1_700_000_001,
          ),
        ),
      );
    const last = (await replayed(-1)).at(-1).sequence_number;
    expect(await replayed(last)).toEqual([]);
    const rest = await replayed(last + 20);
    expect(rest.at(-1)).toMatchObject({ type: "response.failed", response: { status: "cancelled" } });
    expect(rest.map(({ sequence_number }) => sequence_number)).toEqual(rest.map((_, n) => last + 21 + n));
  });

  test("continues after a takeover without repeating a word", () => {
    const stream = createStream(RESPONSE_HEAD);
    const first = [...stream.open(), ...TOOL_TURN.slice(0, 4).flatMap((each) => stream.next(frame(each)))];
    const second = [...TOOL_TURN.flatMap((each) => stream.next(frame(each, 2))), ...stream.end(cited, 1_700_000_001)];
    expect(parsed(toSse([...first, ...second]))).toEqual(events);
  });

  test("ends where a later attempt generates again what the client already has, because the bus lost it", () => {
    const known = TOOL_TURN.slice(0, 4);
    const has = parsed(play(TOOL_TURN, cited)).findLast(({ type }) => type.endsWith("text.delta")).sequence_number;
    const continued = (newest: FramePlace) => {
      const stream = createStream(RESPONSE_HEAD, { startAfter: has, newest });
      const opened = stream.open();
      const again = known.flatMap((each) => stream.next(frame(each, 2)));
      const other = stream.next({ ...frame({ type: "text", text: "\n\nAnother" }, 2), n: 7, is_new: true });
      return parsed(toSse([...opened, ...again, ...other, ...stream.end(cited, 1_700_000_001)]));
    };
    const regenerated = [
      { type: "response.failed", sequence_number: has + 1, response: { error: { message: REGENERATED_MESSAGE } } },
    ];
    expect(continued({ attempt: 1, n: 9 })).toMatchObject(regenerated);
    // the later attempt had begun when the client asked, but had not come as far
    expect(continued({ attempt: 2, n: 6 })).toMatchObject(regenerated);
    // what the client has may be of the later attempt itself
    expect(continued({ attempt: 2, n: 7 }).at(-1).type).toBe("response.completed");
  });

  test("that breaks off before its first event begins with the response, so that its reader can continue", () => {
    const opened = parsed(toSse(createStream(RESPONSE_HEAD).breakOff()));
    expect(opened.map(({ type, sequence_number }) => [type, sequence_number])).toEqual([
      ["response.created", 0],
      ["response.in_progress", 1],
      ["error", 1],
    ]);
  });

  test("of a turn that was given up with less than it has sent ends with the advice to retrieve the stored response", () => {
    const messageOf = (text: string): string => {
      const end: TurnEnd = { status: "failed", said: { ...said, text }, message: "given up", usage: NO_USAGE };
      return parsed(play(TOOL_TURN, end)).at(-1).response.error.message;
    };
    const sent = textOf(TOOL_TURN);
    expect(messageOf(sent)).toBe("given up");
    expect(messageOf(sent.slice(0, 4))).toBe(REGENERATED_MESSAGE);
  });

  test("shows no tools of an agent that hides them", () => {
    const events = parsed(play(TOOL_TURN, cited, { ...RESPONSE_HEAD, expose_tool_items: false }));
    expect(events.at(-1).response.output.map(({ type }: { type: string }) => type)).toEqual([
      "reasoning",
      "message",
      "message",
    ]);
    expect(events.some(({ type }) => type.includes("function_call"))).toBe(false);
  });
});

describe("the response of a turn that does not complete", () => {
  test("fails with its output, including an open call", () => {
    const frames = TOOL_TURN.slice(0, 3);
    const failed: TurnEnd = {
      status: "failed",
      said: { ...said, text: textOf(frames) },
      message: "lost",
      usage: NO_USAGE,
    };
    const { type, response } = parsed(play(frames, failed)).at(-1);
    expect(type).toBe("response.failed");
    expect(response).toMatchObject({
      status: "failed",
      error: { type: "server_error", code: "agent_error", message: "lost" },
      usage: { total_tokens: 0 },
    });
    expect(response.output.at(-1)).toMatchObject({ type: "function_call", status: "incomplete" });
  });

  test("is cancelled without an error", () => {
    const stopped: TurnEnd = { status: "stopped", said, message: "", usage: NO_USAGE };
    const { type, response } = parsed(play([{ type: "text", text: "half" }], stopped)).at(-1);
    expect([type, response.status, response.error]).toEqual(["response.failed", "cancelled", null]);
    expect(response.output[0]).toMatchObject({ status: "incomplete" });
  });
});

const outputOf = (frames: FramePayload[], end: TurnEnd, from = RESPONSE_HEAD) =>
  parsed(play(frames, end, from)).at(-1).response.output;
const textsOf = (frames: FramePayload[], from = RESPONSE_HEAD) =>
  outputOf(frames, completed, from).flatMap(({ content }: any) => content?.[0]?.text ?? []);

describe("what a tool consulted", () => {
  const silent = TOOL_TURN.slice(0, 4);

  test("is cited by the last message if the last round has no text, with events after it", () => {
    const events = eventsIn(play(silent, cited));
    expectStream(events);
    const [added] = events.filter(({ type }) => type === "response.output_text.annotation.added");
    const { output } = events.at(-1).response;
    const annotation = { type: "url_citation", url: "https://a.example/", title: "A", start_index: 0, end_index: 9 };
    expect(output[1].content).toEqual([
      { type: "output_text", text: "Looking. ", annotations: [annotation], logprobs: [] },
    ]);
    expect(added).toMatchObject({
      item_id: output[1].id,
      output_index: 1,
      content_index: 0,
      annotation_index: 0,
      annotation,
    });
    expect(output.map(({ type }: { type: string }) => type)).toEqual(["reasoning", "message", "function_call"]);
  });

  test("is cited after what the model cited itself later than its message", () => {
    const citation = (url: string) => ({ url, title: "", start_index: 0, end_index: 1 });
    const frames: FramePayload[] = [
      { type: "text", text: "One" },
      { type: "citations", citations: [citation("https://a.example/")] },
      { type: "reasoning", text: "Hm" },
      { type: "citations", citations: [citation("https://b.example/")] },
    ];
    const events = parsed(play(frames, completed));
    const { annotations } = events.at(-1).response.output[0].content[0];
    expect(annotations.map(({ url }: { url: string }) => url)).toEqual(["https://a.example/", "https://b.example/"]);
    const added = events.filter(({ type }) => type === "response.output_text.annotation.added");
    expect(added.map(({ annotation_index }) => annotation_index)).toEqual([0, 1]);
  });

  test("is understood by openai's client", async () => {
    const lines = parsed(play(silent, cited)).map((event) => JSON.stringify(event) + "\n");
    const response = await ResponseStream.fromReadableStream(
      ReadableStream.from(lines.map((line) => Buffer.from(line))),
    ).finalResponse();
    const message = response.output.find(({ type }) => type === "message") as any;
    expect(message.content[0].annotations).toMatchObject([{ url: "https://a.example/" }]);
  });
});

describe("a message after other items", () => {
  const code = "    if (x)\n      y";
  const after = (...texts: string[]) =>
    textsOf([...TOOL_TURN.slice(0, 4), ...texts.map((text) => ({ type: "text" as const, text }))])[1];

  test("keeps the indentation of its first line", () => {
    expect(
      textsOf([
        { type: "reasoning", text: "Hm" },
        { type: "text", text: code },
      ]),
    ).toEqual([code]);
    expect(after(`\n\n${code}`)).toBe(code);
  });

  test("loses the blank lines before it, however they are cut into frames", () => {
    for (const texts of [
      ["\n\n    ", "if (x)\n      y"],
      ["\n", "\n", code],
      ["  ", "\n\n", " ", "   if (x)\n      y"],
    ])
      expect(after(...texts)).toBe(code);
  });

  test("is the same when it is sent again without those items", () => {
    const resent = { ...RESPONSE_HEAD, first_item: 3, follows_message: true };
    expect(textsOf([{ type: "text", text: `\n\n${code}` }], resent)).toEqual([code]);
  });
});

test("a completed response without text has an empty message", () => {
  const events = parsed(play([], completed));
  expect(events.at(-1).response.output).toMatchObject([{ type: "message", content: [{ text: "" }] }]);
});

test("a tool call that fails has the status incomplete", () => {
  const events = parsed(
    play(
      [
        { type: "calls", calls: [call] },
        { type: "called", call: 0, status: "failed" },
      ],
      completed,
    ),
  );
  expect(events.at(-1).response.output[0]).toMatchObject({ type: "function_call", status: "incomplete" });
});

test("a response of a hundred thousand frames is built and replayed without holding up the process", async () => {
  const frames = Array.from({ length: 100_000 }, (_, n): FramePayload => ({ type: "text", text: `word ${n} ` }));
  const ended = { end: { ...completed, said: { ...said, text: textOf(frames) } }, completed_at: 1 };
  expect(await countRounds(buildResponse(RESPONSE_HEAD, frames, ended))).toBeGreaterThan(3);
  expect(await countRounds(createStream(RESPONSE_HEAD).replay(frames, ended.end, 1))).toBeGreaterThan(3);
});
