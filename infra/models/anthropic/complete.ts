import type { ModelEvent, ModelRequest } from "#services/turns/model.ts";
import { readChunks } from "../wire/readChunks.ts";
import type { Client } from "../wire/client.ts";
import { createSizeLimit, endAnswer, outputPieces, PROGRESS } from "../wire/output.ts";
import { readUntilFinished } from "../wire/readUntilFinished.ts";
import { StreamEvent, toFinishReason, toRefusal, toUsage, type Delta, type WireUsage } from "./answer.ts";
import { createBlockAssembler } from "./blockAssembler.ts";
import type { ModelFacts } from "./facts.ts";
import { toRequestBody } from "./request.ts";

/**
 * Sends a request and yields the answer. The provider always streams, because a connection that is silent for minutes gets closed;
 * buffered requests still get the answer in one piece. Throws ModelErrors, and errors of the network and the parsers if an answer
 * breaks off.
 */
export async function* complete(
  { client, api_key }: { client: Client; api_key: string },
  request: ModelRequest,
  facts: ModelFacts,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  const body = { ...toRequestBody(request, facts), stream: true };
  const addSize = createSizeLimit(request);
  const blocks = createBlockAssembler();
  let start: WireUsage;
  let end: WireUsage;
  let stopReason: string | null = null;
  const send = async (sendSignal: AbortSignal) =>
    readChunks(await client("/messages", sendSignal, body, request.share), api_key);
  function* toEvents(raw: unknown): Generator<ModelEvent> {
    const event = StreamEvent.safeParse(raw).data;
    if (!event) return;
    switch (event.type) {
      case "message_start":
        start = event.message.usage;
        break;
      case "message_delta":
        end = event.usage ?? end;
        stopReason = event.delta.stop_reason ?? stopReason;
        break;
      case "content_block_start":
      case "content_block_delta": {
        const isStart = event.type === "content_block_start";
        addSize(isStart ? JSON.stringify(event.content_block).length : deltaSize(event.delta));
        const pieces = isStart
          ? blocks.startBlock(event.index, event.content_block)
          : blocks.addDelta(event.index, event.delta);
        for (const piece of pieces) if (request.streamed) yield piece;
        const isCall = isStart ? event.content_block.type === "tool_use" : event.delta.type === "input_json_delta";
        if (request.streamed && isCall) yield PROGRESS;
      }
    }
  }
  yield* readUntilFinished({ send, toEvents, isFinished: () => stopReason !== null }, signal);
  if (!request.streamed && stopReason !== null) yield* outputPieces(blocks.output);
  yield* endAnswer(request, {
    output: blocks.output,
    batch: blocks.batch(),
    finish_reason: stopReason === null ? undefined : toFinishReason(stopReason),
    refusal: toRefusal(stopReason),
    usage: toUsage(start, end),
  });
}

const deltaSize = (delta: Delta): number => Object.values(delta).join("").length;
