import type { Frame, TurnEnd } from "#events/ports.ts";
import type { Said } from "#events/thread.ts";
import { badGateway, errorBody } from "../errors.ts";
import { completionId, finishReason, presentCitations, presentUsage } from "./present.ts";
import { failureOf, type TurnInHand } from "./turn.ts";

/** How far a stream of chunks has come. */
export interface Sent {
  text: string;
  reasoning: string;
  /** How many sources. */
  cited: number;
  /** What was heard of the newest attempt: each begins with the words that are recorded of those before it. */
  heard: Heard;
}
interface Heard {
  attempt: number;
  /** UTF-16 units of each that it has said, and sources that it has named. */
  text: number;
  reasoning: number;
  cited: number;
  /** It says something else than was sent; the end says what to do about it. */
  differs: boolean;
}
const NOTHING_HEARD: Heard = { attempt: 0, text: 0, reasoning: 0, cited: 0, differs: false };
export const NOTHING_SENT: Sent = { text: "", reasoning: "", cited: 0, heard: NOTHING_HEARD };

/** What of an attempt's next words was not sent yet; undefined when they differ from what was sent. */
function news(sent: string, from: number, words: string): string | undefined {
  if (from >= sent.length) return from === sent.length ? words : undefined;
  const known = sent.slice(from, from + words.length);
  return words.startsWith(known) ? words.slice(known.length) : undefined;
}

type Head = Pick<TurnInHand, "turn_id" | "created" | "model" | "include_usage">;

const continues = (sent: Sent, said: Said): boolean =>
  said.text.startsWith(sent.text) && said.reasoning.startsWith(sent.reasoning);
const OTHER_WORDS = "The answer was begun anew while it was read: the thread holds another one than this stream.";

/** Makes the SSE frames of one stream; what never changes is encoded once. */
export function chunksFor(head: Head) {
  const id = completionId(head);
  const { created, model } = head;
  const start = `data: ${JSON.stringify({ id, object: "chat.completion.chunk", created, model }).slice(0, -1)},"choices":[`;
  const tail = head.include_usage ? `],"usage":null}\n\n` : "]}\n\n";
  const delta = (json: string, reason: string | null = null): string =>
    `${start}{"index":0,"delta":${json},"logprobs":null,"finish_reason":${JSON.stringify(reason)}}${tail}`;

  const content = (text: string) => (text ? delta(`{"content":${JSON.stringify(text)}}`) : "");
  const thoughts = (text: string) => (text ? delta(`{"reasoning_content":${JSON.stringify(text)}}`) : "");
  const sources = (citations: Parameters<typeof presentCitations>[0]) =>
    citations.length > 0 ? delta(`{"annotations":${JSON.stringify(presentCitations(citations))}}`) : "";

  /** What was said beyond what was sent: a live stream may have missed frames, a replay has sent nothing. */
  function rest(sent: Sent, { said }: Exclude<TurnEnd, { status: "refused" }>): string {
    return (
      thoughts(said.reasoning.slice(sent.reasoning.length)) +
      content(said.text.slice(sent.text.length)) +
      sources(said.citations.slice(sent.cited))
    );
  }

  return {
    /** The first chunk, without which clients do not know who speaks. */
    opening: delta(`{"role":"assistant","content":""}`),

    /** The next frame of a running turn: how far the stream has come with it, and what to send. */
    fold(sent: Sent, frame: Exclude<Frame, { type: "end" }>): [Sent, string] {
      if (frame.type === "calls" || frame.type === "called") return [sent, ""];
      const { attempt } = frame;
      const heard = attempt === sent.heard.attempt ? sent.heard : { ...NOTHING_HEARD, attempt };
      if (heard.differs) return [{ ...sent, heard }, ""];
      if (frame.type === "citations") {
        const fresh = frame.citations.slice(Math.max(0, sent.cited - heard.cited));
        const cited = heard.cited + frame.citations.length;
        return [{ ...sent, cited: sent.cited + fresh.length, heard: { ...heard, cited } }, sources(fresh)];
      }
      const { type } = frame;
      const words = news(sent[type], heard[type], frame.text);
      if (words === undefined) return [{ ...sent, heard: { ...heard, differs: true } }, ""];
      const now = { ...sent, [type]: sent[type] + words, heard: { ...heard, [type]: heard[type] + frame.text.length } };
      return [now, type === "text" ? content(words) : thoughts(words)];
    },

    /** The last of the stream. A failure closes it without `[DONE]`, or clients take it for a whole answer. */
    ending(sent: Sent, end: TurnEnd): string {
      if (end.status !== "refused" && !continues(sent, end.said))
        return `data: ${JSON.stringify(errorBody(badGateway(OTHER_WORDS)))}\n\n`;
      if (end.status === "refused" || end.status === "failed")
        return `${end.status === "failed" ? rest(sent, end) : ""}data: ${JSON.stringify(errorBody(failureOf(end)))}\n\n`;
      const usage = head.include_usage ? `${start}],"usage":${JSON.stringify(presentUsage(end.usage))}}\n\n` : "";
      return `${rest(sent, end)}${delta("{}", finishReason(end))}${usage}data: [DONE]\n\n`;
    },
  };
}
