import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyRequest } from "fastify";
import { streamOf } from "#events/ids.ts";
import { NO_USAGE, StopTurn } from "#events/thread.ts";
import type { Http } from "../deps.ts";
import { findResponse, type ResponseRow } from "./find.ts";
import { endedAt } from "./stored.ts";

/** How long its worker has to end a turn that is to stop; then it is ended without it. */
const GRACE_MS = 800;
const LOOK_MS = 100;
const TRIES = 5;

/** What readers have been told of a running turn. */
async function saidUntilNow({ frames }: Http, { organization_id, id }: ResponseRow) {
  const kept = await frames.kept(organization_id, id).catch(() => []);
  const newest = Math.max(0, ...kept.map(({ attempt }) => attempt));
  const joined = (type: "text" | "reasoning") =>
    kept.map((frame) => (frame.attempt === newest && frame.type === type ? frame.text : "")).join("");
  return { text: joined("text"), reasoning: joined("reasoning"), citations: [] };
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
    await http.send(StopTurn, {
      stream: streamOf("thread", now.thread_id),
      organization_id,
      principal: request.caller.principal,
      request_id: request.id,
      data: { turn_id: id, attempt: now.attempt, usage: NO_USAGE, said: await saidUntilNow(http, now) },
      waitFor: ["turns"],
    });
    now = await look();
  }
  return now;
}
