import type { Citation } from "#events/thread.ts";
import type { FramePayload } from "#events/ports.ts";

/** Consecutive text of one type, or the ids of the calls of one round. */
interface Segment {
  type: "text" | "reasoning" | "refusal" | "calls";
  text: string;
}

interface State {
  /** Everything that all attempts have emitted. */
  segments: Segment[];
  /** Ended calls, as `<round>/<call>`. */
  endedCalls: Set<string>;
  citations: number;
  attempt: number;
  /** The position of the current attempt in `segments`. */
  at: { segment: number; offset: number };
  /** Number of citations in the current attempt. */
  attemptCitations: number;
}

/** The frames that are new; undefined if the attempt contradicts earlier output. */
export type NewFrames = FramePayload[] | undefined;

/**
 * Removes repetitions from the frames of a turn. Each attempt repeats the recorded output of earlier attempts, which the reader
 * has. The pieces may differ, because frames are lost when the bus crashes.
 */
export function createDeduplicator(): (frame: FramePayload, attempt: number) => NewFrames {
  const state: State = {
    segments: [],
    endedCalls: new Set(),
    citations: 0,
    attempt: 0,
    at: { segment: 0, offset: 0 },
    attemptCitations: 0,
  };
  return (frame, attempt) => {
    if (attempt > state.attempt) {
      state.attempt = attempt;
      state.at = { segment: 0, offset: 0 };
      state.attemptCitations = 0;
    }
    return newFrames(state, frame);
  };
}

function newFrames(state: State, frame: FramePayload): NewFrames {
  switch (frame.type) {
    case "text":
    case "reasoning":
    case "refusal": {
      const text = newText(state, frame.type, frame.text);
      return text === undefined ? undefined : text === "" ? [] : [{ ...frame, text }];
    }
    case "calls": {
      const ids = newText(state, "calls", JSON.stringify(frame.calls.map(({ id }) => id)));
      return ids === undefined ? undefined : ids === "" ? [] : [frame];
    }
    case "target":
      return [];
    case "called": {
      const key = `${currentRound(state)}/${frame.call}`;
      if (state.endedCalls.has(key)) return [];
      state.endedCalls.add(key);
      return [frame];
    }
    case "citations": {
      const citations = newCitations(state, frame.citations);
      return citations.length === 0 ? [] : [{ ...frame, citations }];
    }
  }
}

/** The part of the text that was not emitted before; undefined if it contradicts earlier output. */
function newText(state: State, type: Segment["type"], text: string): string | undefined {
  const { segments } = state;
  const current = segments[state.at.segment];
  if (current && state.at.offset === current.text.length && (current.type !== type || type === "calls"))
    state.at = { segment: state.at.segment + 1, offset: 0 };
  const segment = segments[state.at.segment];
  if (!segment) {
    segments.push({ type, text });
    state.at = { segment: segments.length - 1, offset: text.length };
    return text;
  }
  const known = segment.text.slice(state.at.offset, state.at.offset + text.length);
  const rest = text.slice(known.length);
  const canGrow = state.at.segment === segments.length - 1 && type !== "calls";
  if (segment.type !== type || !text.startsWith(known) || (rest !== "" && !canGrow)) return undefined;
  segment.text += rest;
  state.at.offset += text.length;
  return rest;
}

const currentRound = ({ segments, at }: State): number =>
  segments.slice(0, at.segment + 1).filter(({ type }) => type === "calls").length;

function newCitations(state: State, citations: Citation[]): Citation[] {
  const unsent = citations.slice(Math.max(0, state.citations - state.attemptCitations));
  state.attemptCitations += citations.length;
  state.citations += unsent.length;
  return unsent;
}
