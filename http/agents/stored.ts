import { streamOf } from "#events/ids.ts";
import type { Speaking, TurnEnd } from "#events/ports.ts";
import { Prompt } from "#events/thread.ts";
import { listRounds, type Asked, type RoundRow } from "#projections/turns/query.ts";
import { endOf } from "../chat/turn.ts";
import type { Http } from "../deps.ts";
import type { ResponseRow } from "./find.ts";
import { createFold } from "./fold.ts";
import { presentResponse, type Response, type ResponseHead } from "./present.ts";

type Needs = Pick<Http, "db" | "blobs" | "keyring">;

const NOTHING_ASKED: Asked = { instructions: null, user: null, vars: {}, reasoning_effort: null };
const seconds = (date: Date): number => Math.floor(date.getTime() / 1000);

/** Opens a blob of a turn; undefined when the bytes or their key are gone. */
async function opened({ blobs, keyring }: Needs, row: ResponseRow, blob: string): Promise<Buffer | undefined> {
  const sealed = await blobs.get(blob);
  const { wrapped_key: wrapped } = row;
  return sealed && wrapped ? keyring.open(streamOf("turn", row.id), wrapped, sealed) : undefined;
}

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

/** What was said after the rounds: the stored answer is the text of all of them, set apart by blank lines. */
function lastWords(whole: string, before: string[]): string {
  let at = 0;
  for (const text of before) {
    if (!whole.startsWith(text, at)) at += 2;
    at += text.length;
  }
  return whole.slice(at);
}

/** A turn as the read model tells it, in as few frames as can be. */
function framesOf({ said }: ResponseRow, rounds: RoundRow[]): Speaking[] {
  const speak = ({ reasoning, text }: { reasoning: string; text: string }): Speaking[] => [
    ...(reasoning === "" ? [] : [{ type: "reasoning" as const, text: reasoning }]),
    ...(text === "" ? [] : [{ type: "text" as const, text }]),
  ];
  const before = rounds.flatMap((round): Speaking[] => [
    ...speak(round.said),
    { type: "calls", calls: round.calls },
    ...round.statuses.flatMap((status, call) => (status ? [{ type: "called" as const, call, status }] : [])),
  ]);
  if (!said) return before;
  const last = (type: "text" | "reasoning") =>
    lastWords(
      said[type],
      rounds.map((round) => round.said[type]).filter((text) => text !== ""),
    );
  return [...before, ...speak({ reasoning: last("reasoning"), text: last("text") })];
}

/** Everything that the stream of a response told: exactly, where that is kept. */
export async function toldBy(http: Needs, row: ResponseRow): Promise<Speaking[]> {
  const kept = row.frames === null ? undefined : await opened(http, row, row.frames);
  if (kept) return JSON.parse(kept.toString()) as Speaking[];
  return framesOf(row, await listRounds(http.db, row.id));
}

/** How it ended, with when; undefined while it runs. */
export function endedAt(row: ResponseRow): { end: TurnEnd; completed_at: number } | undefined {
  const end = endOf(row);
  return end && { end, completed_at: seconds(row.ended_at ?? row.started_at) };
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
