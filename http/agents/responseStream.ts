import type { Frame, FramePayload, TurnEnd } from "#events/ports.ts";
import { mapInSlices } from "#events/slices.ts";
import { NO_OUTPUT, NO_USAGE } from "#events/thread.ts";
import type { FramePlace } from "../turns/frameReader.ts";
import { createDeduplicator } from "./deduplicateFrames.ts";
import type { NumberedEvent } from "./encodeEvents.ts";
import { createFold } from "./foldFrames.ts";
import type { StreamEvent } from "./foldState.ts";
import { presentResponse, type ResponseHead } from "./present.ts";

const BREAK = {
  type: "error",
  code: "unavailable",
  message:
    "The server is restarting and the response continues. Reconnect with `starting_after` set to this event's `sequence_number`.",
  param: null,
} as const;

export const REGENERATED_MESSAGE = "The answer was regenerated while streaming. Retrieve the response to see it.";
/** Ends a stream whose events contradict the stored answer, because sent events cannot be withdrawn. */
const REGENERATED: TurnEnd = {
  status: "failed",
  said: NO_OUTPUT,
  message: REGENERATED_MESSAGE,
  usage: NO_USAGE,
};

/** Numbers the events of a stream, and selects those after the last one that the client has. */
function createNumbering(startAfter: number) {
  let next = 0;
  let lastSent = startAfter;
  return {
    number(events: StreamEvent[]): NumberedEvent[] {
      const unsent: NumberedEvent[] = [];
      for (const event of events) {
        const sequence_number = next++;
        if (sequence_number <= lastSent) continue;
        lastSent = sequence_number;
        unsent.push({ ...event, sequence_number });
      }
      return unsent;
    },
    hasStarted: () => next > 0,
    /** Whether the client has more events than there were so far. */
    isBehindClient: () => next <= startAfter,
    lastSent: () => lastSent,
    /** Numbers the last `count` events so that they are sent even to a client that has more events than were retained. */
    reachClient(count: number): void {
      if (next + count <= lastSent) next = lastSent + 1;
    },
  };
}

/** Where a client continues a stream. */
export interface StreamPlace {
  /** Number of the last event that the client has; -1 for none. */
  startAfter: number;
  /** The newest frame when the client asked to continue, so all that the client can have. Undefined if that is unknown. */
  newest: FramePlace | undefined;
}
/** From the first event. */
export const START: StreamPlace = { startAfter: -1, newest: undefined };

const isAfter = (frame: FramePlace, place: FramePlace): boolean =>
  frame.attempt > place.attempt || (frame.attempt === place.attempt && frame.n > place.n);

/** UTF-16 units of text. */
const countText = (frames: FramePayload[]): number =>
  frames.reduce((sum, frame) => sum + (frame.type === "text" ? frame.text.length : 0), 0);

/** Whether more was sent than is stored: the bus lost the frames before the turn was given up. */
const isStoredShorter = (end: TurnEnd, sentUnits: number): boolean =>
  end.status === "failed" && sentUnits > end.said.text.length;

/**
 * Turns the frames of one response into numbered events, without those that its client has. Repeated frames of a newer attempt
 * are not sent again. The stream ends as failed if an attempt contradicts earlier output. If the bus loses frames together with
 * their worker, it also does if a newer attempt has yet to generate what the client already has, or if a turn that was given up is
 * stored with less than was sent.
 */
export function createStream(head: ResponseHead, { startAfter, newest }: StreamPlace = START) {
  const fold = createFold(head);
  const deduplicate = createDeduplicator();
  const numbering = createNumbering(startAfter);
  let isOver = false;
  let units = 0;

  function open(): NumberedEvent[] {
    const response = presentResponse(head, []);
    return numbering.number([
      { type: "response.created", response },
      { type: "response.in_progress", response },
    ]);
  }

  /** Closes the open items, and sends the one terminal event. */
  function finish(given: TurnEnd, completed_at: number): NumberedEvent[] {
    if (isOver) return [];
    isOver = true;
    const end = isStoredShorter(given, units) ? REGENERATED : given;
    const closing = fold.end(end);
    const response = presentResponse(head, fold.output(), end, completed_at);
    const type = end.status === "completed" ? "response.completed" : "response.failed";
    numbering.reachClient(closing.length + 1);
    return numbering.number([...closing, { type, response }]);
  }

  function sendFrame(frame: FramePayload, attempt: number): NumberedEvent[] {
    if (isOver) return [];
    const unsent = deduplicate(frame, attempt);
    if (!unsent) return finish(REGENERATED, 0);
    units += countText(unsent);
    return unsent.flatMap((each) => numbering.number(fold.next(each)));
  }

  return {
    /** The first two events. */
    open,
    /** The next frame of the turn. */
    next({ attempt, n, is_new, ...frame }: FramePayload & FramePlace & Pick<Frame, "is_new">): NumberedEvent[] {
      const isUnseen = is_new && newest !== undefined && isAfter({ attempt, n }, newest);
      if (isUnseen && numbering.isBehindClient()) return finish(REGENERATED, 0);
      return sendFrame(frame, attempt);
    },
    /** Whether the terminal event was sent. */
    isOver: (): boolean => isOver,
    end: finish,
    /** Ends the connection while the response continues. The client can reconnect after its last event, so it must have one. */
    breakOff: (): NumberedEvent[] => [
      ...(numbering.hasStarted() ? [] : open()),
      { ...BREAK, sequence_number: numbering.lastSent() },
    ],
    /** The rest of a turn that has ended, from all its frames. Lets other work run in between. */
    replay: async (frames: FramePayload[], end: TurnEnd, completed_at: number): Promise<NumberedEvent[]> => [
      ...(numbering.hasStarted() ? [] : open()),
      ...(await mapInSlices(frames, (frame) => sendFrame(frame, Number.MAX_SAFE_INTEGER))).flat(),
      ...finish(end, completed_at),
    ],
  };
}

export type ResponseStream = ReturnType<typeof createStream>;
