import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyRequest } from "fastify";
import { streamOf } from "#events/ids.ts";
import type { Frame, Speaking } from "#events/ports.ts";
import { StopTurn, type Usage } from "#events/thread.ts";
import { putBlob } from "../chat/store.ts";
import type { Http } from "../deps.ts";
import { findResponse, type ResponseRow } from "./find.ts";
import { endedAt, toldBy } from "./stored.ts";

/** How long its worker has to end a turn that is to stop; then it is ended without it. */
const GRACE_MS = 800;
const LOOK_MS = 100;
const TRIES = 5;
/** UTF-16 units of text and of reasoning that go with the command, which takes 256 KiB; the blob of the stream has all. */
const SAID = 30_000;

/** What readers have been told of a running turn, by its newest attempt. */
async function toldUntilNow({ frames }: Http, { organization_id, id }: ResponseRow): Promise<Speaking[]> {
  const kept = await frames.kept(organization_id, id).catch(() => []);
  const newest = Math.max(0, ...kept.map(({ attempt }) => attempt));
  const told = kept.filter(({ attempt }) => attempt === newest).toSorted((a, b) => a.n - b.n);
  return told.flatMap(({ attempt: _, n: _n, ...frame }) => (frame.type === "end" ? [] : [frame]));
}

/** What the recorded rounds of a turn have taken; nobody knows of the one that was not. */
async function spent({ db }: Http, { thread_id, id }: ResponseRow): Promise<Usage> {
  const rows = await db.query<{ data: string }>(
    `select data::text as data from log.events
     where stream = $1 and type = 'RoundRequested' and data::json->>'turn_id' = $2`,
    [streamOf("thread", thread_id), id],
  );
  const rounds = rows.map(({ data }) => (JSON.parse(data) as { usage: Usage }).usage);
  const sum = (field: keyof Usage) => rounds.reduce((so, usage) => so + usage[field], 0);
  return {
    prompt_tokens: sum("prompt_tokens"),
    completion_tokens: sum("completion_tokens"),
    cached_tokens: sum("cached_tokens"),
    reasoning_tokens: sum("reasoning_tokens"),
  };
}

/** Ends a turn whose worker does not, and tells its readers. */
async function stopWithoutWorker(http: Http, request: FastifyRequest, row: ResponseRow): Promise<void> {
  const { organization_id, thread_id, id, scope, attempt, wrapped_key } = row;
  const heard = await toldUntilNow(http, row);
  const told = heard.length > 0 ? heard : await toldBy(http, row);
  const usage = await spent(http, row);
  const joined = (type: "text" | "reasoning") => told.map((frame) => (frame.type === type ? frame.text : "")).join("");
  const short = (text: string) => text.slice(0, SAID).toWellFormed();
  const said = { text: short(joined("text")), reasoning: short(joined("reasoning")), citations: [] };
  const blobs = wrapped_key && { organization_id, scope, thread_id, turn_id: id, key: wrapped_key };
  const { position } = await http.send(StopTurn, {
    stream: streamOf("thread", thread_id),
    organization_id,
    principal: request.caller.principal,
    request_id: request.id,
    data: {
      turn_id: id,
      attempt,
      usage,
      said,
      ...(blobs && { frames: await putBlob(http, blobs, Buffer.from(JSON.stringify(told))) }),
    },
    waitFor: ["turns"],
  });
  if (position === 0) return;
  const end = { status: "stopped" as const, said, message: "", usage };
  const last: Frame = { type: "end", attempt, n: Number.MAX_SAFE_INTEGER, position, end };
  http.frames.publish(organization_id, id, last);
}

/** Stops a running response, also where its worker does not hear; what was said is kept. A finished one stays as it is. */
export async function cancelled(
  http: Http,
  request: FastifyRequest,
  scope: string,
  row: ResponseRow,
): Promise<ResponseRow> {
  const { organization_id, id } = row;
  const look = () => findResponse(http, organization_id, scope, id);
  let now = row;
  for (let tried = 0; !endedAt(now) && tried < TRIES; tried++) {
    http.frames.stop(organization_id, id);
    for (const until = Date.now() + GRACE_MS; !endedAt(now) && Date.now() < until; now = await look())
      await sleep(LOOK_MS);
    if (endedAt(now)) break;
    await stopWithoutWorker(http, request, now);
    now = await look();
  }
  return now;
}
