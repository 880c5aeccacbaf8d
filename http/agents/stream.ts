import type { Speaking, TurnEnd } from "#events/ports.ts";
import { NO_USAGE } from "#events/thread.ts";
import { createFold, type StreamEvent } from "./fold.ts";
import { createNews } from "./news.ts";
import { presentResponse, type ResponseHead } from "./present.ts";

const LEAVING =
  "The service is being restarted and the response goes on: read its stream on after this event's number.";

/** What was told cannot be taken back, and another answer stands in the thread. */
const OTHER_WORDS: TurnEnd = {
  status: "failed",
  said: { text: "", reasoning: "", citations: [] },
  message: "The answer was begun anew while it was read: get the response to see it.",
  usage: NO_USAGE,
};

/**
 * The stream of one response: numbered events, as SSE (wire facts: the stream's grammar). A newer attempt of its turn begins
 * with the frames of the older one, which are not told twice; one that says something else ends the stream as failed.
 */
export function createStream(head: ResponseHead, startAfter: number) {
  const fold = createFold({ turn_id: head.turn_id, tools: head.expose_tool_items });
  const news = createNews();
  let made = 0;
  let sent = startAfter + 1;
  let wrote = false;
  let over = false;

  function number(events: StreamEvent[]): string {
    let text = "";
    for (const { type, ...event } of events) {
      const sequence_number = made++;
      if (sequence_number < sent) continue;
      sent = sequence_number + 1;
      wrote = true;
      text += `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number, ...event })}\n\n`;
    }
    return text;
  }
  function open(): string {
    const response = presentResponse(head, []);
    return number([
      { type: "response.created", response },
      { type: "response.in_progress", response },
    ]);
  }

  /** Closes what is open, and ends with the one terminal event. */
  function finish(end: TurnEnd, completed_at: number): string {
    if (over) return "";
    over = true;
    const closing = fold.end(end);
    const response = presentResponse(head, fold.output(), end, completed_at);
    const type = end.status === "completed" ? "response.completed" : "response.failed";
    // who has heard more than was kept still hears of the end; who has the end already hears nothing
    const last = made + closing.length;
    if (wrote || last < sent - 1) made = Math.max(made, sent);
    return number([...closing, { type, response }]);
  }

  /** What is new in a frame of an attempt. */
  function tell(frame: Speaking, attempt: number): string {
    if (over) return "";
    const fresh = news(frame, attempt);
    return fresh ? fresh.map((piece) => number(fold.next(piece))).join("") : finish(OTHER_WORDS, 0);
  }

  return {
    /** The first two events. */
    open,
    /** The next frame of the turn. */
    next: ({ attempt, ...frame }: Speaking & { attempt: number }): string => tell(frame, attempt),
    /** Whether the terminal event has been told. */
    over: (): boolean => over,
    end: finish,
    /** The stream ends here, and the response goes on: it can be read on after the last event that was told. */
    breakOff: (): string =>
      `event: error\ndata: ${JSON.stringify({ type: "error", sequence_number: sent - 1, code: "unavailable", message: LEAVING, param: null })}\n\n`,
    /** The rest of a turn that has ended, from everything that it told. */
    replay: (frames: Speaking[], end: TurnEnd, completed_at: number): string =>
      (made === 0 ? open() : "") +
      frames.map((frame) => tell(frame, Number.MAX_SAFE_INTEGER)).join("") +
      finish(end, completed_at),
  };
}

export type ResponseStream = ReturnType<typeof createStream>;
