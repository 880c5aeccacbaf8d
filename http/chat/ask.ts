import type { AgentOfTurn, Message, Prompt } from "#events/thread.ts";
import { readMessages, type Spoken } from "./messages.ts";
import { checkSchema } from "./responseFormat.ts";
import type { CompletionRequest } from "./schema.ts";
import { readTools } from "./tools.ts";

/** A request whose every word is checked, as far as that needs no look elsewhere. */
export interface Ask {
  model: string;
  streamed: boolean;
  include_usage: boolean;
  user: string | undefined;
  messages: Spoken[];
  /** Slugs or display names of the collections that its tools shall be limited to; null: all. */
  collections: string[] | null;
  /** The agent that it runs on; none in a chat. */
  agent?: AgentOfTurn;
  /** How long the turn may take, where that does not follow from `streamed`. */
  limit_ms?: number;
  /** The prompt, less its messages and with no collections looked up yet. */
  settings: Omit<Prompt, "messages">;
}

const stopOf = (stop: CompletionRequest["stop"]): string[] => (typeof stop === "string" ? [stop] : (stop ?? []));

/** Throws an ApiError with the spec's code and the field's name. */
export function askOf(request: CompletionRequest): Ask {
  const format = request.response_format ?? { type: "text" };
  if (format.type === "json_schema") checkSchema(format.json_schema.schema);
  const { instructions, messages } = readMessages(request);
  const { tools, tool_choice } = readTools(request);
  const collections = request.knowledge?.collections ?? [];
  return {
    model: request.model,
    streamed: request.stream ?? false,
    include_usage: request.stream_options?.include_usage ?? false,
    user: request.user ?? undefined,
    messages,
    collections: collections.length > 0 ? collections : null,
    settings: {
      instructions,
      temperature: request.temperature ?? null,
      top_p: request.top_p ?? null,
      max_output_tokens: request.max_completion_tokens ?? request.max_tokens ?? null,
      stop: stopOf(request.stop),
      seed: request.seed ?? null,
      response_format: format,
      user: request.user ?? null,
      vars: request.metadata ?? {},
      tools,
      tool_choice,
      knowledge: null,
    },
  };
}

export const promptOf = (ask: Ask, messages: Message[]): Prompt => ({ ...ask.settings, messages });
