import type { TurnEnd } from "#events/ports.ts";
import { completionUsage } from "#events/presentUsage.ts";
import type { Citation } from "#events/thread.ts";
import { placeOf } from "#events/turnOutput.ts";
import { presentCalls } from "../turns/callShape.ts";
import type { Completion } from "./schema.ts";
import type { TurnHandle } from "../turns/turnHandle.ts";

export const finishReason = (end: TurnEnd) => (end.status === "completed" ? end.finish_reason : "stop");

export const presentCitations = (citations: Citation[]) =>
  citations.map(({ url, title, start_index, end_index, ...place }) => ({
    type: "url_citation" as const,
    url_citation: { url, title, start_index, end_index, ...placeOf(place) },
  }));

export const completionId = ({ turn_id }: Pick<TurnHandle, "turn_id">): string => `chatcmpl-${turn_id}`;

/** The body of a buffered answer (spec: Chat completion response). */
export function presentCompletion(turn: TurnHandle, end: Exclude<TurnEnd, { status: "refused" }>): Completion {
  const { text, reasoning, citations, refusal, calls } = end.said;
  return {
    id: completionId(turn),
    object: "chat.completion",
    created: turn.created,
    model: end.model ?? turn.model,
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: text,
          refusal: refusal ?? null,
          annotations: presentCitations(citations),
          ...(reasoning && { reasoning_content: reasoning }),
          ...presentCalls(calls),
        },
        logprobs: null,
        finish_reason: finishReason(end),
      },
    ],
    usage: completionUsage(end.usage),
  };
}
