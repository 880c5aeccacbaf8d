import { expect } from "vitest";
import { expectOpenEvents } from "./openResponses.ts";

/*
 * The grammar of a response stream, independent of the code that emits it:
 * created in_progress item* (completed | failed), numbered from 0 without gaps.
 */

const ID = { reasoning: /^rs_/, function_call: /^fc_/, message: /^msg_/ } as Record<string, RegExp>;
/** Fields of a response that change while it runs. */
const CHANGING = ["status", "output", "error", "usage", "completed_at"];

/** The events of an SSE body. Each must have an `event:` line that equals its type; comments are skipped. */
export function eventsIn(sse: string): any[] {
  expect(sse.endsWith("\n\n"), "the last frame is closed by a blank line").toBe(true);
  return sse
    .slice(0, -2)
    .split("\n\n")
    .filter((frame) => !frame.startsWith(":"))
    .map((frame) => {
      const [, event, json] = /^event: (\S+)\ndata: (.*)$/.exec(frame) ?? expect.fail(`no frame: ${frame}`);
      const data = JSON.parse(json!);
      expect(event, "the event line equals the type").toBe(data.type);
      return data;
    });
}

/** Checks a part of a stream that is numbered from `first`. */
export function expectNumbered(events: any[], first = 0): void {
  expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, n) => first + n));
}

interface Open {
  item: any;
  at: number;
  text: string;
  annotations: any[];
  /** Of a message. */
  refusal?: string;
  /** Types of its events so far. */
  events: string[];
}

const short = ({ type, part }: any): string =>
  type
    .replace(/^response\./, "")
    .replace(/^(output|reasoning_summary)_text\./, "text.")
    .replace(/^content_part/, part?.type === "refusal" ? "refusal" : "content_part");

function opened({ item, output_index }: any): Open {
  expect(item.id).toMatch(ID[item.type] ?? expect.fail(`item type ${item.type}`));
  expect(item.status).toBe("in_progress");
  if (item.type === "reasoning") expect(item.summary).toEqual([{ type: "summary_text", text: "" }]);
  else if (item.type === "function_call")
    expect(item).toMatchObject({ arguments: "", name: expect.any(String), call_id: expect.any(String) });
  else expect(item).toMatchObject({ role: "assistant", content: [] });
  return { item, at: output_index, text: "", annotations: [], events: [] };
}

/** The allowed events of an item, by the event before. */
const ORDER: Record<string, Record<string, string[]>> = {
  reasoning: { "": ["text.delta"], "text.delta": ["text.delta", "text.done"], "text.done": ["output_item.done"] },
  function_call: {
    "": ["function_call_arguments.delta"],
    "function_call_arguments.delta": ["function_call_arguments.delta", "function_call_arguments.done"],
    "function_call_arguments.done": ["output_item.done"],
  },
  message: {
    "": ["content_part.added", "refusal.added"],
    "content_part.added": ["text.delta", "text.annotation.added", "text.done"],
    "text.delta": ["text.delta", "text.annotation.added", "text.done"],
    "text.annotation.added": ["text.annotation.added", "text.done"],
    "text.done": ["content_part.done"],
    // a refusal is a part of its own, without deltas
    "content_part.done": ["refusal.added", "output_item.done"],
    "refusal.added": ["refusal.done"],
    "refusal.done": ["output_item.done"],
  },
};

const partOf = ({ text, annotations }: Open) => ({ type: "output_text", text, annotations, logprobs: [] });

/** Checks an event of an open item against the events before it. */
function applyEvent(open: Open, event: any): void {
  const what = short(event);
  if (what.endsWith("delta")) {
    expect(event.delta).toBeTypeOf("string");
    if (open.item.type === "message") expect(event.logprobs).toEqual([]);
    open.text += event.delta;
  } else if (what === "text.annotation.added") {
    expect(event.annotation_index).toBe(open.annotations.length);
    open.annotations.push(event.annotation);
  } else if (what === "text.done") expect(event.text).toBe(open.text);
  else if (what === "function_call_arguments.done")
    expect([event.arguments, event.name]).toEqual([open.text, open.item.name]);
  else if (what === "content_part.added") expect(event.part).toEqual(partOf({ ...open, text: "" }));
  else if (what === "content_part.done") expect(event.part).toEqual(partOf(open));
  else if (what === "refusal.added") expect(event.part).toEqual({ type: "refusal", refusal: "" });
  else if (what === "refusal.done") open.refusal = event.part.refusal;
}

/** Checks that a closed item has exactly the content of its events. */
function expectClosed(open: Open, { item }: any): void {
  const { item: before, text, annotations, refusal, events } = open;
  expect(item).toMatchObject({ id: before.id, type: before.type });
  if (item.type === "reasoning") return expect(item.summary).toEqual([{ type: "summary_text", text }]);
  expect(["completed", "incomplete"]).toContain(item.status);
  if (item.type === "function_call") return expect(item).toEqual({ ...before, arguments: text, status: item.status });
  for (const { url, title, start_index, end_index } of annotations) {
    expect([typeof url, typeof title]).toEqual(["string", "string"]);
    expect([start_index, end_index]).toEqual([0, text.length]);
  }
  const parts = events.includes("content_part.done") ? [partOf(open)] : [];
  return expect(item.content).toEqual(refusal === undefined ? parts : [...parts, { type: "refusal", refusal }]);
}

/** A closed message with a source that was consulted after it, because the last round of the turn had no text. */
function citedLate(item: any, { item_id, content_index, annotation_index, annotation }: any): any {
  const [part, ...others] = item?.content ?? [];
  expect([item_id, content_index, annotation_index]).toEqual([item?.id, 0, part?.annotations.length]);
  expect([annotation.start_index, annotation.end_index]).toEqual([0, part.text.length]);
  return { ...item, content: [{ ...part, annotations: [...part.annotations, annotation] }, ...others] };
}

/** The items of a stream. Checks each from its first event to its last. */
function itemsIn(events: any[]): any[] {
  const done: any[] = [];
  const running = new Map<number, Open>();
  for (const event of events) {
    const { type, output_index: at } = event;
    if (type === "response.output_item.added") {
      expect(at, "items open in order").toBe(done.length);
      // the calls of a round run in parallel, all other items in sequence
      const parallel = [...running.values()].filter(({ item }) => item.type !== "function_call");
      if (event.item.type !== "function_call") expect([...running.keys()], "items still open").toEqual([]);
      expect(parallel, "an item opens while another one is open").toEqual([]);
      running.set(at, opened(event));
      done.push(undefined);
      continue;
    }
    if (type === "response.output_text.annotation.added" && !running.has(at)) {
      done[at] = citedLate(done[at], event);
      continue;
    }
    const open = running.get(at) ?? expect.fail(`${type} of an item that is not open`);
    const after = ORDER[open.item.type]![open.events.at(-1) ?? ""] ?? [];
    const what = short(event);
    expect(after, `${type} after ${open.events.at(-1)}`).toContain(what);
    if (type === "response.output_item.done") {
      expectClosed(open, event);
      running.delete(at);
      done[at] = event.item;
      continue;
    }
    expect(event.item_id, "item_id").toBe(open.item.id);
    const place = open.item.type === "reasoning" ? "summary_index" : "content_index";
    const number = what.startsWith("refusal") && open.events.includes("content_part.done") ? 1 : 0;
    if (open.item.type !== "function_call") expect(event[place], place).toBe(number);
    open.events.push(what);
    applyEvent(open, event);
  }
  expect([...running.keys()], "items left open").toEqual([]);
  expect(new Set(done.map(({ id }) => id)).size, "ids are unique").toBe(done.length);
  return done;
}

const steady = (response: any) =>
  Object.fromEntries(Object.entries(response).filter(([name]) => !CHANGING.includes(name)));

const ERROR = { type: "server_error", code: "agent_error", message: expect.any(String) };

/** Checks a whole stream, also against the Open Responses specification, and returns its final response. Throws at the first fault. */
export function expectStream(events: any[]): any {
  expectNumbered(events);
  expectOpenEvents(events);
  const [created, inProgress, ...rest] = events;
  const terminal = rest.pop();
  expect([created.type, inProgress?.type]).toEqual(["response.created", "response.in_progress"]);
  expect(created.response).toMatchObject({ status: "in_progress", output: [], error: null, completed_at: null });
  expect(inProgress.response).toEqual(created.response);

  const items = itemsIn(rest);
  const { type, response } = terminal;
  expect(["response.completed", "response.failed"]).toContain(type);
  expect(response.status).toBeOneOf(type === "response.completed" ? ["completed"] : ["failed", "cancelled"]);
  expect(response.error).toEqual(response.status === "failed" ? ERROR : null);
  expect(response.output).toEqual(items);
  expect(response.usage).toMatchObject({ input_tokens: expect.any(Number), total_tokens: expect.any(Number) });
  // where the model is an alias, the target that answered is known at the end
  const { model } = created.response.model.includes("/") ? created.response : response;
  expect(steady(response)).toEqual(steady({ ...created.response, model }));
  expect(response.completed_at === null).toBe(response.status !== "completed");
  return response;
}
