import type { FastifyReply } from "fastify";
import { currentTime } from "#events/clock.ts";
import type { FramePayload } from "#events/ports.ts";
import type { Http } from "../base/deps.ts";
import { onDisconnect } from "../base/disconnect.ts";
import { recheckAfterWait } from "../base/recheck.ts";
import { encodeComment, openEventStream } from "../base/sse.ts";
import { openFrameReader } from "../turns/frameReader.ts";
import { waitForEnd } from "../turns/turnEnd.ts";
import { encodeEvents } from "./encodeEvents.ts";
import { keepAlive } from "./keepAlive.ts";
import { findResponse, type ResponseRow } from "./lookups.ts";
import type { ResponseHead } from "./present.ts";
import { createStream } from "./responseStream.ts";
import { readResponseEnd, readFrames, readHead, buildResponse, type ResponseEnd } from "./storedResponse.ts";

interface ResendOptions {
  streamed: boolean;
  disconnected: AbortSignal;
}

/** Keeps only the final message: a client that executes tools itself would otherwise run every call it sees. */
function finalMessage(frames: FramePayload[]): FramePayload[] {
  const lastCall = frames.findLastIndex(({ type }) => type === "calls" || type === "called");
  return frames.slice(lastCall + 1).filter(({ type }) => type !== "reasoning");
}

/** Makes the resent stream begin at the final message, which keeps the id that it has in the stored response. */
async function headOfMessage(
  head: ResponseHead,
  frames: FramePayload[],
  ended: ResponseEnd | undefined,
): Promise<ResponseHead> {
  const { output } = await buildResponse(head, frames, ended);
  const at = output.findLastIndex(({ type }) => type !== "reasoning");
  const first_item = output[at]?.type === "message" ? at : output.length;
  const follows_message = output.slice(0, first_item).some(({ type }) => type === "message");
  return { ...head, expose_tool_items: false, first_item, follows_message };
}

async function readAnswer(http: Http, row: ResponseRow) {
  const [head, frames] = await Promise.all([readHead(http, row), readFrames(http, row)]);
  const ended = readResponseEnd(row);
  return { head: await headOfMessage(head, frames, ended), message: finalMessage(frames), ended };
}

/**
 * Waits until the response has ended, or until a time in epoch milliseconds, and returns it. Streams nothing meanwhile: only the end
 * shows which message is the final one, and the client must not see earlier items again.
 */
async function awaitEnd(http: Http, row: ResponseRow, ends_by: number, over: AbortSignal): Promise<ResponseRow> {
  if (readResponseEnd(row)) return row;
  const { organization_id, id: turn_id, thread_id, scope } = row;
  const reader = openFrameReader(http.frames, organization_id, turn_id);
  onDisconnect(over, () => reader.close());
  try {
    await waitForEnd(http, { organization_id, turn_id, thread_id, ends_by }, reader, over);
    return over.aborted ? row : await findResponse(http, organization_id, scope, turn_id);
  } finally {
    reader.close();
  }
}

async function resendBuffered(http: Http, reply: FastifyReply, row: ResponseRow, disconnected: AbortSignal) {
  const connection = keepAlive(reply, http);
  try {
    const newest = await awaitEnd(http, row, currentTime() + http.settings.TURN_SECONDS * 1000, disconnected);
    if (disconnected.aborted) return reply.hijack();
    await recheckAfterWait(reply);
    const { head, message, ended } = await readAnswer(http, newest);
    return await connection.answer(await buildResponse(head, message, ended));
  } catch (error) {
    return connection.fail(error, row.id);
  } finally {
    connection.stop();
  }
}

/** Streams the resent answer. There is no time limit (spec: Limits); comments keep the connection open. */
async function resendStreamed(http: Http, reply: FastifyReply, row: ResponseRow, disconnected: AbortSignal) {
  const sse = openEventStream(reply, readResponseEnd(row) ? "" : encodeComment(reply.request));
  try {
    const newest = await awaitEnd(http, row, Infinity, AbortSignal.any([disconnected, http.closing]));
    const { head, message, ended } = await readAnswer(http, newest);
    const stream = createStream(head);
    const events = ended ? await stream.replay(message, ended.end, ended.completed_at) : stream.breakOff();
    sse.end(await encodeEvents(events));
  } catch (error) {
    http.logger.warn({ err: error, turn_id: row.id }, "response not sent");
    reply.raw.destroy();
  }
  return reply;
}

/**
 * Sends the answer again to a client that mistook it for a tool call and returned a result. If the response still runs, waits for it
 * like any other request does, and answers `in_progress` at the request's time limit.
 */
export async function resendAnswer(
  http: Http,
  reply: FastifyReply,
  row: ResponseRow,
  { streamed, disconnected }: ResendOptions,
) {
  reply.header("x-thread-id", row.thread_id);
  return (streamed ? resendStreamed : resendBuffered)(http, reply, row, disconnected);
}
