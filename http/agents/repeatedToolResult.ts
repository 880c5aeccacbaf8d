import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyReply } from "fastify";
import type { FramePayload } from "#events/ports.ts";
import { findTurnByCall } from "#projections/turns/query.ts";
import type { Http } from "../base/deps.ts";
import { findOrWait } from "../base/findById.ts";
import { openEventStream } from "../base/sse.ts";
import { findResponse, type ResponseRow } from "./lookups.ts";
import type { ResponseHead } from "./present.ts";
import { createStream } from "./responseStream.ts";
import { endedAt, readFrames, readHead, responseFrom, type EndedAt } from "./storedResponse.ts";

const POLL_MS = 200;

/**
 * The response that ran the last of these calls on the server, once it has ended; undefined when none did, or when a result
 * is one that it waits for. The client may be faster than the read model, which is therefore awaited: otherwise the same turn
 * would run once more.
 */
export async function findRepeatedTurn(
  http: Http,
  organization: string,
  scope: string,
  calls: string[],
  disconnected: AbortSignal,
): Promise<ResponseRow | undefined> {
  const call = calls.at(-1);
  if (call === undefined) return undefined;
  const turn_id = await findOrWait(
    () => findTurnByCall(http.db, organization, scope, call),
    () => http.freshRead(["turns"]),
  );
  if (!turn_id) return undefined;
  let row = await findResponse(http, organization, scope, turn_id);
  for (; !endedAt(row) && !disconnected.aborted; row = await findResponse(http, organization, scope, turn_id))
    await sleep(POLL_MS);
  const isAwaited = row.said?.calls?.some(({ id }) => calls.includes(id)) ?? false;
  return endedAt(row) && !isAwaited ? row : undefined;
}

/** Keeps only the final message: a client that executes tools itself would otherwise run every call it sees. */
function finalMessage(frames: FramePayload[]): FramePayload[] {
  const lastCall = frames.findLastIndex(({ type }) => type === "calls" || type === "called");
  return frames.slice(lastCall + 1).filter(({ type }) => type !== "reasoning");
}

/** The head of the resent answer. Its message keeps the id that it has in the stored response. */
function headOfMessage(head: ResponseHead, frames: FramePayload[], ended: EndedAt): ResponseHead {
  const { output } = responseFrom(head, frames, ended);
  const at = output.findLastIndex(({ type }) => type !== "reasoning");
  const first_item = output[at]?.type === "message" ? at : output.length;
  const follows_message = output.slice(0, first_item).some(({ type }) => type === "message");
  return { ...head, expose_tool_items: false, first_item, follows_message };
}

/** Sends the answer again to a client that took it for a request to run tools, and returned a tool's result. */
export async function resendAnswer(http: Http, reply: FastifyReply, row: ResponseRow, streamed: boolean) {
  reply.header("x-thread-id", row.thread_id);
  const [head, frames] = await Promise.all([readHead(http, row), readFrames(http, row)]);
  const ended = endedAt(row)!;
  const withoutTools = headOfMessage(head, frames, ended);
  const message = finalMessage(frames);
  if (!streamed) return responseFrom(withoutTools, message, ended);
  const text = createStream(withoutTools, -1).replay(message, ended.end, ended.completed_at);
  return openEventStream(reply, text).end("");
}
