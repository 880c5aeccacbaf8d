import type { Frame, Speaking, TurnEnd } from "#events/ports.ts";
import { createFold, type StreamEvent } from "./fold.ts";
import { presentResponse, type ResponseHead } from "./present.ts";

/**
 * The stream of one response: numbered events, as SSE (wire facts: the stream's grammar). A newer attempt of its turn begins
 * with the frames of the older one, so what was sent already is made anew and not sent twice.
 */
export function createStream(head: ResponseHead, startAfter: number) {
  const options = { turn_id: head.turn_id, tools: head.expose_tool_items };
  let fold = createFold(options);
  let attempt = 0;
  let made = 0;
  let sent = startAfter + 1;
  let wrote = false;

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
    const closing = fold.end(end);
    const response = presentResponse(head, fold.output(), end, completed_at);
    const type = end.status === "completed" ? "response.completed" : "response.failed";
    // who has heard more than was kept still hears of the end; who has the end already hears nothing
    const last = made + closing.length;
    if (wrote || last < sent - 1) made = Math.max(made, sent);
    return number([...closing, { type, response }]);
  }
  /** Makes the stream anew from its beginning; what was sent is not sent again. */
  function restart(): string {
    fold = createFold(options);
    made = 0;
    return open();
  }

  return {
    /** The first two events. */
    open,
    /** The next frame of the turn. */
    next(frame: Speaking & Pick<Frame, "attempt">): string {
      const again = frame.attempt > attempt && attempt > 0 ? restart() : "";
      attempt = Math.max(attempt, frame.attempt);
      return again + number(fold.next(frame));
    },
    end: finish,
    /** The rest of a turn that has ended, from everything that it told. */
    replay: (frames: Speaking[], end: TurnEnd, completed_at: number): string =>
      restart() + frames.map((frame) => number(fold.next(frame))).join("") + finish(end, completed_at),
  };
}

export type ResponseStream = ReturnType<typeof createStream>;
