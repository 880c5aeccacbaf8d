import type { Frame, TurnEnd } from "#events/ports.ts";
import { completionUsage } from "#events/presentUsage.ts";
import type { Citation, TurnOutput, Usage } from "#events/thread.ts";
import { badGateway, errorBody } from "../base/errors.ts";
import { turnFailure } from "../turns/turnEnd.ts";
import { presentCalls } from "../turns/callShape.ts";
import type { TurnHandle } from "../turns/turnHandle.ts";
import { completionId, finishReason, presentCitations } from "./present.ts";

/** What a stream of chunks has sent so far. */
export interface StreamProgress {
  text: string;
  reasoning: string;
  /** Number of citations. */
  cited: number;
  refusal: string;
  newest: AttemptProgress;
}
/** What was received of the newest attempt. Each attempt begins by repeating the recorded text of earlier attempts. */
interface AttemptProgress {
  attempt: number;
  /** Lengths in UTF-16 units, and number of citations. */
  text: number;
  reasoning: number;
  cited: number;
  /** Whether the refusal that was sent is of this attempt. */
  hasRefused: boolean;
  /** This attempt's text contradicts what was sent, so its frames are ignored until the turn ends. */
  differs: boolean;
}
const NOTHING_RECEIVED: AttemptProgress = {
  attempt: 0,
  text: 0,
  reasoning: 0,
  cited: 0,
  hasRefused: false,
  differs: false,
};
export const NOTHING_SENT: StreamProgress = {
  text: "",
  reasoning: "",
  cited: 0,
  refusal: "",
  newest: NOTHING_RECEIVED,
};

/**
 * Returns the part of `words` that was not sent yet, given that `words` begins at offset `from`. Undefined if it contradicts what
 * was sent.
 */
function unsentWords(sent: string, from: number, words: string): string | undefined {
  if (from >= sent.length) return from === sent.length ? words : undefined;
  const known = sent.slice(from, from + words.length);
  return words.startsWith(known) ? words.slice(known.length) : undefined;
}

type Head = Pick<TurnHandle, "turn_id" | "created" | "model" | "include_usage">;

const isContinuation = (sent: StreamProgress, output: TurnOutput): boolean =>
  output.text.startsWith(sent.text) &&
  output.reasoning.startsWith(sent.reasoning) &&
  (sent.refusal === "" || sent.refusal === output.refusal);
const REGENERATED = "The answer was regenerated while streaming; the thread holds the final one.";

/** One chunk with the calls of the caller's own tools. */
function ownCalls(delta: (json: string) => string, calls: TurnOutput["calls"]): string {
  const { tool_calls } = presentCalls(calls);
  return tool_calls ? delta(JSON.stringify({ tool_calls: tool_calls.map((call, index) => ({ index, ...call })) })) : "";
}

const annotations = (citations: Citation[]): string => `{"annotations":${JSON.stringify(presentCitations(citations))}}`;

/** The beginning of every chunk, up to its choices. */
const startOf = ({ turn_id, created }: Head, model: string): string => {
  const chunk = { id: completionId({ turn_id }), object: "chat.completion.chunk", created, model };
  return `data: ${JSON.stringify(chunk).slice(0, -1)},"choices":[`;
};

/**
 * Encodes the chunks of one stream. Their constant parts are encoded once, and again when the target of an alias answers. All chunks
 * name the model of the first one, because clients require it, also if another target answers a later round.
 */
function createEncoder(head: Head) {
  let start = startOf(head, head.model);
  let isOpen = false;
  const tail = head.include_usage ? `],"usage":null}\n\n` : "]}\n\n";
  const delta = (json: string, reason: string | null = null): string =>
    `${start}{"index":0,"delta":${json},"logprobs":null,"finish_reason":${JSON.stringify(reason)}}${tail}`;
  return {
    delta,
    /** The first chunk, which carries the role. */
    open(): string {
      isOpen = true;
      return delta(`{"role":"assistant","content":""}`);
    },
    /** A chunk without content, which keeps a silent stream open: every client takes it, and some fail at comments. */
    idle: (): string => delta("{}"),
    usage: (usage: Usage): string => `${start}],"usage":${JSON.stringify(completionUsage(usage))}}\n\n`,
    nameModel(model: string): void {
      if (!isOpen) start = startOf(head, model);
    },
  };
}

/** Builds the SSE frames of one stream. */
export function chunksFor(head: Head) {
  const { delta, open, idle, usage, nameModel } = createEncoder(head);
  const content = (text: string) => (text ? delta(`{"content":${JSON.stringify(text)}}`) : "");
  const thoughts = (text: string) => (text ? delta(`{"reasoning_content":${JSON.stringify(text)}}`) : "");
  const refuses = (refusal: string) => (refusal ? delta(`{"refusal":${JSON.stringify(refusal)}}`) : "");
  const sources = (citations: Citation[]) => (citations.length > 0 ? delta(annotations(citations)) : "");

  /** Sends the first refusal. One of a newer attempt does not replace it, so that the end shows the contradiction. */
  function refuse(sent: StreamProgress, newest: AttemptProgress, text: string): [StreamProgress, string] {
    const own = { ...newest, hasRefused: true };
    if (sent.refusal === "") return [{ ...sent, newest: own, refusal: text }, refuses(text)];
    return [{ ...sent, newest, refusal: newest.hasRefused ? text : sent.refusal }, ""];
  }

  /** The chunks for what was not sent yet. A live stream may have missed frames, and a replay has sent nothing. */
  function rest(sent: StreamProgress, { said: output }: Exclude<TurnEnd, { status: "refused" }>): string {
    return (
      thoughts(output.reasoning.slice(sent.reasoning.length)) +
      refuses(sent.refusal === "" ? (output.refusal ?? "") : "") +
      content(output.text.slice(sent.text.length)) +
      sources(output.citations.slice(sent.cited))
    );
  }

  return {
    open,
    idle,

    /** Applies a frame of a running turn. Returns the new progress and the text to send. */
    fold(sent: StreamProgress, frame: Exclude<Frame, { type: "end" }>): [StreamProgress, string] {
      if (frame.type === "target") nameModel(frame.model);
      if (frame.type === "calls" || frame.type === "called" || frame.type === "target") return [sent, ""];
      const { attempt, type } = frame;
      const newest = attempt === sent.newest.attempt ? sent.newest : { ...NOTHING_RECEIVED, attempt };
      if (newest.differs) return [{ ...sent, newest }, ""];
      if (type === "refusal") return refuse(sent, newest, frame.text);
      if (type === "citations") {
        const unsent = frame.citations.slice(Math.max(0, sent.cited - newest.cited));
        const cited = newest.cited + frame.citations.length;
        return [{ ...sent, cited: sent.cited + unsent.length, newest: { ...newest, cited } }, sources(unsent)];
      }
      const words = unsentWords(sent[type], newest[type], frame.text);
      if (words === undefined) return [{ ...sent, newest: { ...newest, differs: true } }, ""];
      const received = { ...newest, [type]: newest[type] + frame.text.length };
      const progress = { ...sent, [type]: sent[type] + words, newest: received };
      return [progress, type === "text" ? content(words) : thoughts(words)];
    },

    /** The last chunks. After a failure `[DONE]` is left out, because clients would take the answer for complete. */
    ending(sent: StreamProgress, end: TurnEnd): string {
      if (end.status !== "refused" && end.model !== undefined) nameModel(end.model);
      if (end.status !== "refused" && !isContinuation(sent, end.said))
        return `data: ${JSON.stringify(errorBody(badGateway(REGENERATED)))}\n\n`;
      if (end.status === "refused" || end.status === "failed")
        return `${end.status === "failed" ? rest(sent, end) : ""}data: ${JSON.stringify(errorBody(turnFailure(end)))}\n\n`;
      const used = head.include_usage ? usage(end.usage) : "";
      return `${rest(sent, end)}${ownCalls(delta, end.said.calls)}${delta("{}", finishReason(end))}${used}data: [DONE]\n\n`;
    },
  };
}
