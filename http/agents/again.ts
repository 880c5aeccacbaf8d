import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyReply } from "fastify";
import { turnOfCall } from "#projections/turns/query.ts";
import type { Http } from "../deps.ts";
import { openEventStream } from "../sse.ts";
import { findResponse, type ResponseRow } from "./find.ts";
import type { Speaking } from "#events/ports.ts";
import { endedAt, headOf, toldBy, toldResponse } from "./stored.ts";
import { createStream } from "./stream.ts";

const LOOK_AGAIN_MS = 200;

/**
 * The response that ran a call here, once it has ended; undefined where none did. The client may be quicker than the read
 * model: without a fresh look it would set off the same turn once more.
 */
export async function answeredBefore(
  http: Http,
  organization: string,
  scope: string,
  call: string | undefined,
  gone: AbortSignal,
): Promise<ResponseRow | undefined> {
  if (call === undefined) return undefined;
  const find = () => turnOfCall(http.db, organization, scope, call);
  let turn_id = await find();
  if (!turn_id) {
    await http.freshRead(["turns"]);
    turn_id = await find();
  }
  if (!turn_id) return undefined;
  let row = await findResponse(http, organization, scope, turn_id);
  for (; !endedAt(row) && !gone.aborted; row = await findResponse(http, organization, scope, turn_id))
    await sleep(LOOK_AGAIN_MS);
  return endedAt(row) && row;
}

/** The last message alone: whoever believes that it must run tools would go on for every call that it is shown. */
function answerIn(told: Speaking[]): Speaking[] {
  const before = told.findLastIndex(({ type }) => type === "calls" || type === "called");
  return told.slice(before + 1).filter(({ type }) => type !== "reasoning");
}

/** Answers a client that sends back the result of a call that was run here: it gets the answer that it has not understood to be one. */
export async function answerAgain(http: Http, reply: FastifyReply, row: ResponseRow, streamed: boolean) {
  reply.header("x-thread-id", row.thread_id);
  const [head, told] = await Promise.all([headOf(http, row), toldBy(http, row)]);
  const shown = { ...head, expose_tool_items: false };
  const frames = answerIn(told);
  const { end, completed_at } = endedAt(row)!;
  if (!streamed) return toldResponse(shown, frames, { end, completed_at });
  return openEventStream(reply, createStream(shown, -1).replay(frames, end, completed_at)).end("");
}
