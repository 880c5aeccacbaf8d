import { describe, expect, test } from "vitest";
import { encodeEvent } from "#http/agents/encodeEvents.ts";
import { createStream } from "#http/agents/responseStream.ts";
import { NO_USAGE } from "#events/thread.ts";
import type { Frame, TurnEnd } from "#events/ports.ts";
import { RESPONSE_HEAD } from "../samples.ts";
import { eventsIn, expectStream } from "./grammar.ts";

/* Proves the checker: a valid stream passes, and each planted fault is refused. */

const calls = ["a", "b"].map((name) => ({ id: `call_${name}`, name, arguments: "{}" }));
const FRAMES: object[] = [
  { type: "reasoning", text: "Hm." },
  { type: "calls", calls },
  { type: "called", call: 1, status: "failed" },
  { type: "called", call: 0, status: "completed" },
  { type: "text", text: "So " },
  { type: "text", text: "be it." },
  { type: "citations", citations: [{ url: "https://a.example/", title: "A", start_index: 0, end_index: 3 }] },
];
const end: TurnEnd = {
  status: "completed",
  said: { text: "", reasoning: "", citations: [] },
  finish_reason: "stop",
  usage: NO_USAGE,
};

function validStream(): string {
  const stream = createStream(RESPONSE_HEAD);
  const next = (frame: object, n: number) =>
    stream.next({ attempt: 1, n, ...frame } as Exclude<Frame, { type: "end" }>);
  const events = [...stream.open(), ...FRAMES.flatMap(next), ...stream.end(end, 1_700_000_001)];
  return events.map(encodeEvent).join("");
}
const renumbered = (events: any[]) => events.map((event, sequence_number) => ({ ...event, sequence_number }));
const at = (type: string) => eventsIn(validStream()).findIndex((event) => event.type === `response.${type}`);

test("the grammar accepts a valid stream", () => expect(expectStream(eventsIn(validStream())).output).toHaveLength(4));

describe("the grammar refuses a stream", () => {
  test.each(eventsIn(validStream()).map(({ type }, n) => [n, type] as const))("without its event %i, %s", (n, type) => {
    const without = renumbered(eventsIn(validStream()).toSpliced(n, 1));
    expect(() => expectStream(without), type).toThrow();
  });

  test.each([
    ["a gap in its numbers", (events: any[]) => (events[4].sequence_number += 1)],
    ["an unknown event", (events: any[]) => (events[4].type = "response.cancelled")],
    ["two terminal events", (events: any[]) => events.push({ ...events.at(-1), sequence_number: events.length })],
    ["an event after its end", (events: any[]) => events.push({ ...events[3], sequence_number: events.length })],
    ["another text at the end", (events: any[]) => (events[at("output_text.done")].text += "!")],
    ["another item at the end", (events: any[]) => (events.at(-1).response.output[0].id = "rs_other")],
    ["an item with another id", (events: any[]) => (events[at("output_text.delta")].item_id = "msg_other")],
    ["no content_index", (events: any[]) => delete events[at("output_text.delta")].content_index],
    ["a wrong output_index", (events: any[]) => (events[at("output_text.delta")].output_index = 0)],
    ["a call under another name", (events: any[]) => (events[at("function_call_arguments.done")].name = "c")],
    ["a status that changes too early", (events: any[]) => (events[1].response.status = "completed")],
    ["a response whose thread changes", (events: any[]) => (events.at(-1).response.thread_id = "other")],
    ["a terminal event that differs from the status", (events: any[]) => (events.at(-1).type = "response.failed")],
    [
      "an annotation beyond its text",
      (events: any[]) => (events[at("output_text.annotation.added")].annotation.end_index = 99),
    ],
  ])("with %s", (_, plant) => {
    const events = eventsIn(validStream());
    plant(events);
    expect(() => expectStream(events)).toThrow();
  });

  test.each([
    [
      "an event line that is not the type",
      (sse: string) => sse.replace("event: response.created", "event: response.in_progress"),
    ],
    ["a frame without an event line", (sse: string) => sse.replace("event: response.created\n", "")],
    ["a truncated last frame", (sse: string) => sse.slice(0, -1)],
    ["[DONE]", (sse: string) => `${sse}data: [DONE]\n\n`],
  ])("with %s", (_, plant) => expect(() => eventsIn(plant(validStream()))).toThrow());
});
