import { missingMessages, readMessages } from "./readMessages.ts";
import { readTools } from "./requestTools.ts";
import { readResponseFormat } from "./responseFormat.ts";
import type { CompletionRequest } from "./schema.ts";
import { readResults } from "../turns/callResults.ts";
import type { TurnRequest } from "../turns/turnRequest.ts";

const stopSequences = (stop: CompletionRequest["stop"]): string[] => (typeof stop === "string" ? [stop] : (stop ?? []));

/** Clients may send any whole number. No model writes this many tokens, and a larger number could not be stored exactly. */
const limitTokens = (limit: number | null): number | null => limit && Math.min(limit, Number.MAX_SAFE_INTEGER);

/** Maps a seed of 64 bits to one that can be stored exactly. Equal seeds stay equal. */
const readSeed = (seed: number | null): number | null => seed && seed % 2 ** 53;

/** Checks everything in a request that needs no look-up. Throws an ApiError with the spec's code and the field's name. */
export function readCompletion(
  request: CompletionRequest,
  { hasOwnTools, continues } = { hasOwnTools: false, continues: false },
): TurnRequest {
  const response_format = readResponseFormat(request.response_format);
  const { instructions, messages: sent } = readMessages(request, hasOwnTools);
  const { messages, answers } = readResults(sent, continues);
  if (messages.length === 0) throw missingMessages();
  const { tools, tool_choice } = readTools(request);
  return {
    model: request.model,
    streamed: request.stream ?? false,
    include_usage: request.stream_options?.include_usage ?? false,
    user: request.user ?? undefined,
    messages,
    answers,
    // an empty list allows no collection: a program that found none for its user must not search them all
    collections: request.knowledge?.collections ?? null,
    settings: {
      instructions,
      temperature: request.temperature ?? null,
      top_p: request.top_p ?? null,
      max_output_tokens: limitTokens(request.max_completion_tokens ?? request.max_tokens ?? null),
      stop: stopSequences(request.stop),
      seed: readSeed(request.seed ?? null),
      response_format,
      user: request.user ?? null,
      vars: request.metadata ?? {},
      tools,
      tool_choice,
      knowledge: null,
    },
  };
}
