import type Anthropic from "@anthropic-ai/sdk";
import { ModelError, type ModelEvent, type ModelRequest } from "#services/turns/model.ts";
import { untilEnded } from "../wire/ending.ts";
import { createMeter, estimate, whole } from "../wire/said.ts";
import { finishReason, StreamEvent, usageOf, type Delta, type WireUsage } from "./answer.ts";
import { createBlocks } from "./blocks.ts";
import type { Facts } from "./facts.ts";
import { toWire } from "./request.ts";

/**
 * What the model says to a request. It is always asked for a stream, because nobody keeps a connection open for the minutes that
 * a long answer takes in silence; who waits for the whole gets it in one piece. Throws what the SDK throws, or a ModelError.
 */
export async function* complete(
  client: Anthropic,
  request: ModelRequest,
  facts: Facts,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  const body = { ...toWire(request, facts), stream: true as const };
  const meter = createMeter();
  const blocks = createBlocks();
  let start: WireUsage;
  let end: WireUsage;
  let reason: string | null = null;
  const ask = (asking: AbortSignal) => client.messages.create(body, { signal: asking });
  for await (const raw of untilEnded(ask, () => reason !== null, signal)) {
    const event = StreamEvent.safeParse(raw).data;
    if (!event) continue;
    switch (event.type) {
      case "message_start":
        start = event.message.usage;
        break;
      case "message_delta":
        end = event.usage ?? end;
        reason = event.delta.stop_reason ?? reason;
        break;
      case "content_block_start":
      case "content_block_delta": {
        const begins = event.type === "content_block_start";
        meter(begins ? JSON.stringify(event.content_block).length : sizeOf(event.delta));
        const words = begins ? blocks.begin(event.index, event.content_block) : blocks.add(event.index, event.delta);
        for (const word of words) if (request.streamed) yield word;
      }
    }
  }
  if (reason === null) throw new ModelError("cut", "The provider's answer ended without a reason to finish.");
  const { text, reasoning } = blocks.said;
  if (!request.streamed) yield* whole(blocks.said);
  const asked = blocks.asked();
  if (asked) yield { type: "tool_calls", ...asked };
  const spoken = text + (asked ? JSON.stringify(asked.calls) : "");
  yield {
    type: "finish",
    finish_reason: finishReason(reason),
    usage: usageOf(start, end) ?? (await estimate(request, spoken, reasoning)),
  };
}

const sizeOf = (delta: Delta): number => Object.values(delta).join("").length;
