import { expect } from "vitest";

/*
 * What a response's stream may look like (wire facts: the stream's grammar), told apart from the code that makes it:
 * created in_progress item* (completed | failed), numbered from 0 without a gap.
 */

const ID = { reasoning: /^rs_/, function_call: /^fc_/, message: /^msg_/ } as Record<string, RegExp>;
/** What of a response changes while it runs. */
const CHANGING = ["status", "output", "error", "usage", "completed_at"];

/** Events of an SSE body, each framed by an `event:` line that equals its type; comments are let pass. */
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

/** Part of a stream, numbered on from `first`. */
export function expectNumbered(events: any[], first = 0): void {
  expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, n) => first + n));
}

interface Open {
  item: any;
  at: number;
  text: string;
  annotations: any[];
  /** What has been told of it, besides deltas. */
  told: string[];
}

const short = (type: string): string =>
  type.replace(/^response\./, "").replace(/^(output|reasoning_summary)_text\./, "text.");

function opened({ item, output_index }: any): Open {
  expect(item.id).toMatch(ID[item.type] ?? expect.fail(`item type ${item.type}`));
  expect(item.status).toBe("in_progress");
  if (item.type === "reasoning") expect(item.summary).toEqual([{ type: "summary_text", text: "" }]);
  else if (item.type === "function_call")
    expect(item).toMatchObject({ arguments: "", name: expect.any(String), call_id: expect.any(String) });
  else expect(item).toMatchObject({ role: "assistant", content: [] });
  return { item, at: output_index, text: "", annotations: [], told: [] };
}

/** What may follow what within an item: the last event but deltas, and the next. */
const ORDER: Record<string, Record<string, string[]>> = {
  reasoning: { "": ["text.delta"], "text.delta": ["text.delta", "text.done"], "text.done": ["output_item.done"] },
  function_call: {
    "": ["function_call_arguments.delta"],
    "function_call_arguments.delta": ["function_call_arguments.delta", "function_call_arguments.done"],
    "function_call_arguments.done": ["output_item.done"],
  },
  message: {
    "": ["content_part.added"],
    "content_part.added": ["text.delta", "text.annotation.added", "text.done"],
    "text.delta": ["text.delta", "text.annotation.added", "text.done"],
    "text.annotation.added": ["text.annotation.added", "text.done"],
    "text.done": ["content_part.done"],
    "content_part.done": ["output_item.done"],
  },
};

const partOf = ({ text, annotations }: Open) => ({ type: "output_text", text, annotations, logprobs: [] });

/** What an event says of its item is what has been told of it so far. */
function tell(open: Open, event: any): void {
  const what = short(event.type);
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
}

/** An item as it closes: all that was told of it, and nothing else. */
function closed({ item: before, text, annotations }: Open, { item }: any): void {
  expect(item).toMatchObject({ id: before.id, type: before.type });
  if (item.type === "reasoning") return expect(item.summary).toEqual([{ type: "summary_text", text }]);
  expect(["completed", "incomplete"]).toContain(item.status);
  if (item.type === "function_call") return expect(item).toEqual({ ...before, arguments: text, status: item.status });
  for (const { url, title, start_index, end_index } of annotations) {
    expect([typeof url, typeof title]).toEqual(["string", "string"]);
    expect([start_index, end_index]).toEqual([0, text.length]);
  }
  return expect(item.content).toEqual([partOf({ text, annotations } as Open)]);
}

/** The items of a stream, each told from its opening to its close. */
function itemsIn(events: any[]): any[] {
  const done: any[] = [];
  const running = new Map<number, Open>();
  for (const event of events) {
    const { type, output_index: at } = event;
    if (type === "response.output_item.added") {
      expect(at, "items open in order").toBe(done.length);
      // calls of a round run side by side, everything else one after the other
      const beside = [...running.values()].filter(({ item }) => item.type !== "function_call");
      if (event.item.type !== "function_call") expect([...running.keys()], "items still open").toEqual([]);
      expect(beside, "an item opens while another speaks").toEqual([]);
      running.set(at, opened(event));
      done.push(undefined);
      continue;
    }
    const open = running.get(at) ?? expect.fail(`${type} of an item that is not open`);
    const after = ORDER[open.item.type]![open.told.at(-1) ?? ""] ?? [];
    expect(after, `${type} after ${open.told.at(-1)}`).toContain(short(type));
    open.told.push(short(type));
    if (type === "response.output_item.done") {
      closed(open, event);
      running.delete(at);
      done[at] = event.item;
      continue;
    }
    expect(event.item_id, "item_id").toBe(open.item.id);
    const place = open.item.type === "reasoning" ? "summary_index" : "content_index";
    if (open.item.type !== "function_call") expect(event[place], place).toBe(0);
    tell(open, event);
  }
  expect([...running.keys()], "items left open").toEqual([]);
  expect(new Set(done.map(({ id }) => id)).size, "ids are unique").toBe(done.length);
  return done;
}

const steady = (response: any) =>
  Object.fromEntries(Object.entries(response).filter(([name]) => !CHANGING.includes(name)));

const ERROR = { type: "server_error", code: "agent_error", message: expect.any(String) };

/** A whole stream; its last response. Throws at the first fault. */
export function expectStream(events: any[]): any {
  expectNumbered(events);
  const [created, going, ...rest] = events;
  const terminal = rest.pop();
  expect([created.type, going?.type]).toEqual(["response.created", "response.in_progress"]);
  expect(created.response).toMatchObject({ status: "in_progress", output: [], error: null, completed_at: null });
  expect(going.response).toEqual(created.response);

  const items = itemsIn(rest);
  const { type, response } = terminal;
  expect(["response.completed", "response.failed"]).toContain(type);
  expect(response.status).toBeOneOf(type === "response.completed" ? ["completed"] : ["failed", "cancelled"]);
  expect(response.error).toEqual(response.status === "failed" ? ERROR : null);
  expect(response.output).toEqual(items);
  expect(response.usage).toMatchObject({ input_tokens: expect.any(Number), total_tokens: expect.any(Number) });
  expect(steady(response)).toEqual(steady(created.response));
  expect(response.completed_at === null).toBe(response.status !== "completed");
  return response;
}
