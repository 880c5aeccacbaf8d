import type { Speaking, TurnEnd } from "#events/ports.ts";
import type { Citation, ToolCall } from "#events/thread.ts";
import { annotationOf, callItem, itemId, messageItem, reasoningItem, textPart, type Item } from "./items.ts";

/** An event of a response's stream, before it has its number. */
export type StreamEvent = { type: string } & Record<string, unknown>;

interface OpenText {
  type: "reasoning" | "message";
  index: number;
  id: string;
  text: string;
}

interface Options {
  turn_id: string;
  /** Whether tool calls show as items. */
  tools: boolean;
}

/**
 * Turns the frames of a turn into the items of its response and the events of its stream: the same frames give the same
 * events, in whatever process. Items open in order; reasoning and messages one at a time, calls of a round side by side.
 */
export function createFold({ turn_id, tools }: Options) {
  const output: Item[] = [];
  /** Calls of the round at hand, by their number in it; null where they do not show. */
  let calls: { call: ToolCall; index: number }[] = [];
  let open: OpenText | undefined;
  let citations: Citation[] = [];
  let spoke = false;
  /** The model has cited sources itself, each with the message that it belongs to. */
  let cited = false;

  const at = (index: number) => ({ output_index: index, item_id: output[index]!.id });

  function add(item: Item): StreamEvent {
    output.push(item);
    return { type: "response.output_item.added", output_index: output.length - 1, item };
  }
  function done(index: number, item: Item): StreamEvent {
    output[index] = item;
    return { type: "response.output_item.done", output_index: index, item };
  }

  function begin(type: OpenText["type"]): StreamEvent[] {
    const index = output.length;
    const id = itemId(type, turn_id, index);
    open = { type, index, id, text: "" };
    if (type === "reasoning") return [add(reasoningItem(id, "", "in_progress"))];
    const added = add(messageItem(id, [], "in_progress"));
    return [added, { type: "response.content_part.added", ...at(index), content_index: 0, part: textPart("", []) }];
  }

  function closeReasoning({ index, id, text }: OpenText): StreamEvent[] {
    return [
      { type: "response.reasoning_summary_text.done", ...at(index), summary_index: 0, text },
      done(index, reasoningItem(id, text, "completed")),
    ];
  }

  /** Sources are told when their message is whole, because the span of each covers it. */
  function closeMessage({ index, id, text }: OpenText, status: "completed" | "incomplete"): StreamEvent[] {
    const annotations = citations.map((citation) => annotationOf(citation, text));
    citations = [];
    const part = textPart(text, annotations);
    const place = { ...at(index), content_index: 0 };
    return [
      ...annotations.map((annotation, annotation_index) => ({
        type: "response.output_text.annotation.added",
        ...place,
        annotation_index,
        annotation,
      })),
      { type: "response.output_text.done", ...place, text, logprobs: [] },
      { type: "response.content_part.done", ...place, part },
      done(index, messageItem(id, [part], status)),
    ];
  }

  function close(status: "completed" | "incomplete" = "completed"): StreamEvent[] {
    const closing = open;
    open = undefined;
    if (!closing) return [];
    return closing.type === "reasoning" ? closeReasoning(closing) : closeMessage(closing, status);
  }

  /** Words of a message or of reasoning; what sets a later message apart from the one before is not part of it. */
  function say(type: OpenText["type"], sent: string): StreamEvent[] {
    const fresh = open?.type !== type;
    const text = fresh && output.length > 0 ? sent.trimStart() : sent;
    if (text === "") return [];
    const events = fresh ? [...close(), ...begin(type)] : [];
    const { index } = open!;
    open!.text += text;
    spoke ||= type === "message";
    return type === "reasoning"
      ? [...events, { type: "response.reasoning_summary_text.delta", ...at(index), summary_index: 0, delta: text }]
      : [...events, { type: "response.output_text.delta", ...at(index), content_index: 0, delta: text, logprobs: [] }];
  }

  function beginCalls(wanted: ToolCall[]): StreamEvent[] {
    const events = close();
    if (!tools) return events;
    calls = wanted.map((call, n) => ({ call, index: output.length + n }));
    return [
      ...events,
      ...calls.flatMap(({ call, index }) => [
        add(callItem(itemId("function_call", turn_id, index), call, "", "in_progress")),
        { type: "response.function_call_arguments.delta", ...at(index), delta: call.arguments },
        {
          type: "response.function_call_arguments.done",
          ...at(index),
          name: call.name,
          arguments: call.arguments,
        },
      ]),
    ];
  }

  function endCall(n: number, status: "completed" | "incomplete"): StreamEvent[] {
    const found = calls[n];
    if (!found || (output[found.index] as { status: string }).status !== "in_progress") return [];
    const { call, index } = found;
    return [done(index, callItem(itemId("function_call", turn_id, index), call, call.arguments, status))];
  }

  return {
    output: (): Item[] => output,

    /** The next frame of a running turn. */
    next(frame: Speaking): StreamEvent[] {
      switch (frame.type) {
        case "reasoning":
        case "text":
          return say(frame.type === "text" ? "message" : "reasoning", frame.text);
        case "citations":
          citations.push(...frame.citations);
          cited = true;
          return [];
        case "calls":
          return beginCalls(frame.calls);
        case "called":
          return endCall(frame.call, frame.status === "completed" ? "completed" : "incomplete");
      }
    },

    /** Closes what is open; a completed response has a message, even if it says nothing. */
    end(end: TurnEnd): StreamEvent[] {
      const whole = end.status === "completed";
      if (end.status !== "refused" && !cited) citations = end.said.citations;
      const left = calls.flatMap((_, n) => endCall(n, "incomplete"));
      const last = whole && !spoke && open?.type !== "message" ? [...close(), ...begin("message")] : [];
      return [...left, ...last, ...close(whole ? "completed" : "incomplete")];
    },
  };
}
