import type { Frame, TurnEnd } from "#events/ports.ts";
import type { Said } from "#events/thread.ts";
import { badGateway, errorBody } from "../errors.ts";
import { completionId, finishReason, presentCitations, presentUsage } from "./present.ts";
import { failureOf, type TurnInHand } from "./turn.ts";

/** How far a stream of chunks has come. `attempt` is the one whose words were sent. */
export interface Sent {
  attempt: number;
  text: string;
  reasoning: string;
  cited: boolean;
}
export const NOTHING_SENT: Sent = { attempt: 0, text: "", reasoning: "", cited: false };

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
      (sent.cited ? "" : sources(said.citations))
    );
  }

  return {
    /** The first chunk, without which clients do not know who speaks. */
    opening: delta(`{"role":"assistant","content":""}`),

    /** The next frame of a running turn: how far the stream has come with it, and what to send. */
    fold(sent: Sent, frame: Exclude<Frame, { type: "end" }>): [Sent, string] {
      const begun = sent.text !== "" || sent.reasoning !== "";
      // words of another attempt would repeat what was sent; the end says what to do about it
      if (begun && frame.attempt !== sent.attempt) return [sent, ""];
      const now = { ...sent, attempt: frame.attempt };
      switch (frame.type) {
        case "text":
          return [{ ...now, text: sent.text + frame.text }, content(frame.text)];
        case "reasoning":
          return [{ ...now, reasoning: sent.reasoning + frame.text }, thoughts(frame.text)];
        case "citations":
          return [{ ...now, cited: true }, sources(frame.citations)];
      }
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
