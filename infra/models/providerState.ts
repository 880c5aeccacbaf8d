import { z } from "zod";
import type { Model, ModelEvent, ModelMessage } from "#services/turns/model.ts";

/** Opaque state that came with tool calls, and the provider that sent it. */
const ProviderState = z.object({ provider: z.string(), state: z.unknown() });

/** Wraps a model so that it gets back only opaque state of its own provider. State of other providers is useless to it, and private. */
export const isolateState = (provider: string, model: Model): Model => ({
  async *complete(request, signal) {
    const messages = request.messages.map((message) => keepOwnState(provider, message));
    for await (const event of model.complete({ ...request, messages }, signal)) yield labelState(provider, event);
  },
});

function keepOwnState(provider: string, message: ModelMessage): ModelMessage {
  if (message.role !== "assistant" || message.opaque === undefined) return message;
  const { opaque, ...others } = message;
  const labelled = ProviderState.safeParse(opaque).data;
  return labelled?.provider === provider ? { ...others, opaque: labelled.state } : others;
}

const labelState = (provider: string, event: ModelEvent): ModelEvent =>
  event.type === "tool_calls" && event.opaque !== undefined
    ? { ...event, opaque: { provider, state: event.opaque } }
    : event;
