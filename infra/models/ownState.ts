import { z } from "zod";
import type { Model, ModelEvent, ModelMessage } from "#services/turns/model.ts";

/** What a provider sent along with its calls, and who that was. */
const Owned = z.object({ provider: z.string(), state: z.unknown() });

/** A model that is shown its provider's own state again and nobody else's: that of another is of no use to it, and none of its business. */
export const ownState = (provider: string, model: Model): Model => ({
  async *complete(request, signal) {
    const messages = request.messages.map((message) => stateOf(provider, message));
    for await (const event of model.complete({ ...request, messages }, signal)) yield signed(provider, event);
  },
});

function stateOf(provider: string, message: ModelMessage): ModelMessage {
  if (message.role !== "assistant" || message.opaque === undefined) return message;
  const { opaque, ...others } = message;
  const owned = Owned.safeParse(opaque).data;
  return owned?.provider === provider ? { ...others, opaque: owned.state } : others;
}

const signed = (provider: string, event: ModelEvent): ModelEvent =>
  event.type === "tool_calls" && event.opaque !== undefined
    ? { ...event, opaque: { provider, state: event.opaque } }
    : event;
