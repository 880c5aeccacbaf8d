import { streamName } from "#events/ids.ts";
import type { FramePayload, TurnEnd } from "#events/ports.ts";
import { parseLargeJson } from "#events/readLargeJson.ts";
import { createPause } from "#events/slices.ts";
import { Prompt } from "#events/thread.ts";
import { listTurnApprovals } from "#projections/runs/approvals.ts";
import { listRounds, type RequestEcho, type RoundRow } from "#projections/turns/query.ts";
import type { Http } from "../base/deps.ts";
import { readInTurn } from "../base/longReads.ts";
import { unixSeconds } from "../base/times.ts";
import { turnEndFrom } from "../turns/turnEnd.ts";
import { createFold } from "./foldFrames.ts";
import type { ResponseRow } from "./lookups.ts";
import { presentResponse, type Response, type ResponseHead } from "./present.ts";

type Needs = Pick<Http, "db" | "vault" | "longReadPlaces">;

/** The approvals that a parked turn waits for. */
async function pendingApprovals({ db }: Needs, row: ResponseRow) {
  const approvals = await listTurnApprovals(db, row.thread_id, row.id);
  return approvals
    .filter(({ status }) => status === "pending")
    .map(({ id, call, name, expires_at }) => ({
      id,
      call_id: call?.call_id ?? null,
      name,
      expires_at: expires_at.toISOString(),
    }));
}

const NO_SETTINGS: RequestEcho = { instructions: null, user: null, vars: {}, reasoning_effort: null };

/** Reads a blob of a turn; undefined when the blob or its key is deleted. */
const readBlob = ({ vault }: Needs, { id, wrapped_key }: ResponseRow, blob: string): Promise<Buffer | undefined> =>
  vault.get({ thing: streamName("turn", id), wrapped_key }, blob);

/** The settings in a large prompt, which may have 64 MiB with its messages. */
const readLargeSettings = (http: Needs, row: ResponseRow, blob: string): Promise<RequestEcho> =>
  readInTurn(http, row.organization_id, async () => {
    const json = await readBlob(http, row, blob);
    if (!json) return NO_SETTINGS;
    const { instructions, user, vars, agent, max_output_tokens } = Prompt.parse(await parseLargeJson(json));
    const limit = max_output_tokens === null ? {} : { max_output_tokens };
    return { instructions, user, vars, reasoning_effort: agent?.reasoning_effort ?? null, ...limit };
  });

/** The request's settings without its messages, from the row or from the blob of a large prompt. */
export async function readSettings(http: Needs, row: ResponseRow): Promise<RequestEcho> {
  if (row.asked || row.prompt_blob === null) return row.asked ?? NO_SETTINGS;
  return readLargeSettings(http, row, row.prompt_blob);
}

function headFrom({ id, thread_id, model, agent }: ResponseRow, settings: RequestEcho): ResponseHead {
  const { previous_turn_id, expose_tool_items } = agent;
  const { max_output_tokens = null, ...echo } = settings;
  return { turn_id: id, thread_id, model, previous_turn_id, expose_tool_items, max_output_tokens, ...echo };
}

export const readHead = async (http: Needs, row: ResponseRow): Promise<ResponseHead> =>
  headFrom(row, await readSettings(http, row));

/** The text after the rounds. The stored answer joins the rounds' texts with blank lines. */
function textAfter(whole: string, rounds: string[]): string {
  let at = 0;
  for (const text of rounds) {
    if (!whole.startsWith(text, at)) at += "\n\n".length;
    at += text.length;
  }
  return whole.slice(at);
}

/** Rebuilds a turn's frames from the read model, with as few frames as possible. */
function framesFrom({ said: output }: ResponseRow, rounds: RoundRow[]): FramePayload[] {
  const textFrames = ({ reasoning, text }: { reasoning: string; text: string }): FramePayload[] => [
    ...(reasoning === "" ? [] : [{ type: "reasoning" as const, text: reasoning }]),
    ...(text === "" ? [] : [{ type: "text" as const, text }]),
  ];
  const before = rounds.flatMap((round): FramePayload[] => [
    ...textFrames(round.said),
    { type: "calls", calls: round.calls },
    ...round.statuses.flatMap((status, call) => (status ? [{ type: "called" as const, call, status }] : [])),
  ]);
  if (!output) return before;
  const last = (type: "text" | "reasoning") =>
    textAfter(
      output[type],
      rounds.map((round) => round.said[type]).filter((text) => text !== ""),
    );
  const refusal: FramePayload[] = output.refusal === undefined ? [] : [{ type: "refusal", text: output.refusal }];
  return [...before, ...textFrames({ reasoning: last("reasoning"), text: last("text") }), ...refusal];
}

/** The frames of a turn: the stored ones, or else rebuilt ones. */
export async function readFrames(http: Needs, row: ResponseRow): Promise<FramePayload[]> {
  const stored = row.frames === null ? undefined : await readBlob(http, row, row.frames);
  if (stored) return (await parseLargeJson(stored)) as FramePayload[];
  return framesFrom(row, await listRounds(http.db, row.id));
}

export interface ResponseEnd {
  end: TurnEnd;
  /** Unix seconds. */
  completed_at: number;
}

/** Undefined while the response runs. */
export function readResponseEnd(row: ResponseRow): ResponseEnd | undefined {
  const end = turnEndFrom(row);
  return end && { end, completed_at: unixSeconds(row.ended_at ?? row.started_at) };
}

/**
 * The response object after some frames. Items that a running response has open stay open. Lets other work run in between: a long
 * answer has a hundred thousand frames.
 */
export async function buildResponse(
  head: ResponseHead,
  frames: FramePayload[],
  ended: ResponseEnd | undefined,
): Promise<Response> {
  const fold = createFold(head);
  const pause = createPause();
  for (const frame of frames) {
    await pause();
    fold.next(frame);
  }
  if (!ended) return presentResponse(head, fold.output());
  fold.end(ended.end);
  return presentResponse(head, fold.output(), ended.end, ended.completed_at);
}

/** The output items of a response, without a look at its settings, which may be in the blob of a large prompt. */
export async function readOutput(http: Needs, row: ResponseRow): Promise<Response["output"]> {
  const { output } = await buildResponse(headFrom(row, NO_SETTINGS), await readFrames(http, row), readResponseEnd(row));
  return output;
}

/** The stored response object, with the same items as its stream (spec: Agent response object). */
export async function readStoredResponse(
  http: Needs & Pick<Http, "waitUntilCurrent">,
  row: ResponseRow,
): Promise<Response> {
  const [head, frames] = await Promise.all([readHead(http, row), readFrames(http, row)]);
  const response = await buildResponse(head, frames, readResponseEnd(row));
  if (!row.parked_at) return response;
  await http.waitUntilCurrent(["runs"], streamName("thread", row.thread_id));
  return { ...response, pending_approvals: await pendingApprovals(http, row) };
}
