import type { FastifyReply } from "fastify";
import type { Http } from "../deps.ts";
import { openEventStream } from "../sse.ts";
import type { ResponseRow } from "./find.ts";
import type { Speaking } from "#events/ports.ts";
import { endedAt, headOf, toldBy, toldResponse } from "./stored.ts";
import { createStream } from "./stream.ts";

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
