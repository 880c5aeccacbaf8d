import type { FastifyRequest } from "fastify";
import { streamName } from "#events/ids.ts";
import { encodeLargeJson } from "#events/largeJson.ts";
import { newestAttempt } from "#events/newestAttempt.ts";
import type { Frame, FramePayload } from "#events/ports.ts";
import { waitForStop } from "#events/stopGrace.ts";
import { isAlias } from "#events/route.ts";
import { StopTurn } from "#events/thread.ts";
import { turnUsage } from "#events/turnUsage.ts";
import type { Http } from "../base/deps.ts";
import { putBlob } from "../turns/storeMessages.ts";
import { findResponse, type ResponseRow } from "./lookups.ts";
import { readResponseEnd, readFrames } from "./storedResponse.ts";

const MAX_ATTEMPTS = 5;
/** UTF-16 units of text, and of reasoning, in the command, whose limit is 256 KiB. The blob of the frames holds the whole output. */
const MAX_OUTPUT_IN_COMMAND = 30_000;

/** The retained frames of the newest attempt. */
async function newestFrames({ frames }: Http, { organization_id, id }: ResponseRow): Promise<FramePayload[]> {
  const retained = await frames.loadFrames(organization_id, id).catch(() => []);
  const ordered = newestAttempt(retained).toSorted((a, b) => a.n - b.n);
  return ordered.flatMap(({ attempt: _, n: _n, ...frame }) => (frame.type === "end" ? [] : [frame]));
}

/** Token usage of the recorded rounds. The usage of the interrupted round is unknown. */
const recordedUsage = async ({ turnHistory }: Http, { thread_id, id, model }: ResponseRow) =>
  turnUsage(await turnHistory.roundUsage(thread_id, id), isAlias(model));

function outputFrom(frames: FramePayload[]) {
  const joined = (type: "text" | "reasoning") =>
    frames
      .map((frame) => (frame.type === type ? frame.text : ""))
      .join("")
      .slice(0, MAX_OUTPUT_IN_COMMAND)
      .toWellFormed();
  return { text: joined("text"), reasoning: joined("reasoning"), citations: [] };
}

/** Ends a turn whose worker does not end it. Keeps the output that readers have seen, and sends them the end frame. */
async function stopWithoutWorker(http: Http, request: FastifyRequest, row: ResponseRow): Promise<void> {
  const { organization_id, thread_id, id, scope, attempt, wrapped_key } = row;
  const retained = await newestFrames(http, row);
  const frames = retained.length > 0 ? retained : await readFrames(http, row);
  const used = await recordedUsage(http, row);
  const output = outputFrom(frames);
  const blobs = wrapped_key && { organization_id, scope, thread_id, turn_id: id, key: wrapped_key };
  const blob = blobs && (await putBlob(http, blobs, await encodeLargeJson(frames)));
  const { position } = await http.send(StopTurn, {
    stream: streamName("thread", thread_id),
    organization_id,
    principal: request.caller.principal,
    request_id: request.id,
    data: { turn_id: id, attempt, ...used, said: output, ...(blob && { frames: blob }) },
    waitFor: ["turns"],
  });
  if (position === 0) return;
  const end = { status: "stopped" as const, said: output, message: "", ...used };
  const last: Frame = { type: "end", attempt, n: Number.MAX_SAFE_INTEGER, position, end };
  http.frames.publish(organization_id, id, last);
}

/** Stops a running response and keeps its output, even if its worker does not react. An ended response is not changed. */
export async function cancelResponse(
  http: Http,
  request: FastifyRequest,
  scope: string,
  row: ResponseRow,
): Promise<ResponseRow> {
  const { organization_id, id } = row;
  const read = () => findResponse(http, organization_id, scope, id);
  let current = row;
  for (let attempt = 0; !readResponseEnd(current) && attempt < MAX_ATTEMPTS; attempt++) {
    http.frames.requestStop(organization_id, id);
    // a turn that waits for a person has no worker
    if (!current.parked_at)
      await waitForStop(async () => {
        current = await read();
        return Boolean(readResponseEnd(current));
      });
    if (readResponseEnd(current)) break;
    await stopWithoutWorker(http, request, current);
    current = await read();
  }
  return current;
}
