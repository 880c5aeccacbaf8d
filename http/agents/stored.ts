import type { Speaking } from "#events/ports.ts";
import { Prompt } from "#events/thread.ts";
import type { Asked } from "#projections/turns/query.ts";
import { endedAt, opened, toldBy } from "../chat/told.ts";
import type { Http } from "../deps.ts";
import type { ResponseRow } from "./find.ts";
import { createFold } from "./fold.ts";
import { presentResponse, type Response, type ResponseHead } from "./present.ts";

type Needs = Pick<Http, "db" | "blobs" | "keyring">;

const NOTHING_ASKED: Asked = { instructions: null, user: null, vars: {}, reasoning_effort: null };

/** What the request said beside its messages, wherever it is kept. */
export async function askedIn(http: Needs, row: ResponseRow): Promise<Asked> {
  if (row.asked || row.prompt_blob === null) return row.asked ?? NOTHING_ASKED;
  const json = await opened(http, row, row.prompt_blob);
  if (!json) return NOTHING_ASKED;
  const { instructions, user, vars, agent } = Prompt.parse(JSON.parse(json.toString()));
  return { instructions, user, vars, reasoning_effort: agent?.reasoning_effort ?? null };
}

export async function headOf(http: Needs, row: ResponseRow): Promise<ResponseHead> {
  const { instructions, user, vars, reasoning_effort } = await askedIn(http, row);
  const { id, thread_id, model, agent } = row;
  const { previous_turn_id, expose_tool_items } = agent;
  return {
    turn_id: id,
    thread_id,
    model,
    instructions,
    previous_turn_id,
    user,
    vars,
    reasoning_effort,
    expose_tool_items,
  };
}

/** The response object that comes of what was told. */
export function toldResponse(head: ResponseHead, frames: Speaking[], ended: ReturnType<typeof endedAt>): Response {
  const fold = createFold({ turn_id: head.turn_id, tools: head.expose_tool_items });
  for (const frame of frames) fold.next(frame);
  // what a running response has open is not closed for being looked at
  if (!ended) return presentResponse(head, fold.output());
  fold.end(ended.end);
  return presentResponse(head, fold.output(), ended.end, ended.completed_at);
}

/** The response object as it is stored (spec: Agent response object): its items are those that its stream told. */
export async function storedResponse(http: Needs, row: ResponseRow): Promise<Response> {
  const [head, frames] = await Promise.all([headOf(http, row), toldBy(http, row)]);
  return toldResponse(head, frames, endedAt(row));
}
