import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { streamName } from "#events/ids.ts";
import type { RunRow } from "#projections/runs/query.ts";
import { requireCredential } from "../auth/authenticate.ts";
import type { App } from "../base/app.ts";
import type { Http } from "../base/deps.ts";
import { disconnectSignal } from "../base/disconnect.ts";
import { ApiError } from "../base/errors.ts";
import { encodeComment, openEventStream } from "../base/sse.ts";
import { createAgentOutputRelay } from "./agentOutputRelay.ts";
import { formatFrames } from "./eventMessages.ts";
import type { RecordedRunEvent } from "./foldSteps.ts";
import { requireRun } from "./lookups.ts";
import { RunProgress } from "./runProgress.ts";
import { createOpenValue } from "./runValues.ts";
import { createWaitForEvents, type WaitForEvents } from "./waitForEvents.ts";

/** How long the stream waits for running steps after the end of the run. */
const MAX_LATE_MS = 30_000;
/** Characters that are written before the stream checks whether the client keeps up. */
const MAX_WRITE_CHARS = 64 * 1024;

/** Version of the last event that the client has; 0 for none. Throws a 400. */
function readLastEventId({ headers }: FastifyRequest): number {
  const id = headers["last-event-id"];
  if (id === undefined || id === "") return 0;
  if (typeof id === "string" && /^\d{1,9}$/.test(id)) return Number(id);
  throw new ApiError(null, "Last-Event-ID must be the id of an event.", { param: "Last-Event-ID" });
}

interface Follower {
  row: RunRow;
  /** Version of the last event that the client has. */
  lastSeen: number;
  reply: FastifyReply;
}

/** Yields the events after a version, page by page. Stops when a read fails; the caller reads again after the next wait. */
async function* readOn(
  { streamPages }: Pick<Http, "streamPages">,
  stream: string,
  version: number,
): AsyncGenerator<RecordedRunEvent[]> {
  try {
    for await (const { events } of streamPages(stream, version + 1)) yield events as RecordedRunEvent[];
  } catch {}
}

/**
 * Sends the events of a run as they arrive, until the last one or until the client disconnects. When a result cannot be read, it
 * throws, and the stream ends before that event: the client resumes there.
 */
export async function followRun(
  http: Pick<Http, "streamPages" | "vault" | "frames">,
  waitForEvents: WaitForEvents,
  { row, lastSeen, reply }: Follower,
): Promise<void> {
  const stream = streamName("run", row.id);
  const openValue = createOpenValue(http, row);
  const disconnected = disconnectSignal(reply.raw);
  const sse = openEventStream(reply, encodeComment(reply.request));
  const relay = createAgentOutputRelay(http, row, sse);
  const progress = new RunProgress();
  let version = 0;
  let deadline: number | undefined;

  async function send(events: RecordedRunEvent[]): Promise<void> {
    let frames = "";
    for (const event of events) {
      version = event.version;
      progress.apply(event);
      relay.apply(event);
      if (event.version <= lastSeen) continue;
      frames += await formatFrames(event, openValue);
      if (frames.length < MAX_WRITE_CHARS && event !== events.at(-1)) continue;
      sse.write(frames);
      frames = "";
      await sse.drained();
      if (disconnected.aborted) return;
    }
  }

  try {
    while (!disconnected.aborted) {
      for await (const events of readOn(http, stream, version)) {
        await send(events);
        if (disconnected.aborted) break;
      }
      if (!progress.isOver) relay.follow();
      if (progress.isQuiet) break;
      if (progress.isOver) deadline ??= performance.now() + MAX_LATE_MS;
      if (deadline !== undefined && performance.now() >= deadline) break;
      const timeout =
        deadline === undefined ? [] : [AbortSignal.timeout(Math.max(0, Math.ceil(deadline - performance.now())))];
      await waitForEvents({ stream, version }, AbortSignal.any([disconnected, ...timeout]));
    }
  } finally {
    await relay.close();
    sse.end("");
  }
}

/** Streams the events of a run as SSE. */
export function eventStreamRoutes(app: App, http: Http): void {
  const waitForEvents = createWaitForEvents(http);
  const following = {
    tags: ["Workflows"],
    security: [{ key: [] }],
    summary: "Follow the events of a run (SSE)",
    description:
      "`id` is the version of the run's stream; `Last-Event-ID` resumes after that event, on any server. Events are `run.*`, `step.*`, " +
      "`approval.*`, `timer.*`, `wait.*` and `agent.*`; `agent.delta` has words of an agent as they come, and no `id`. " +
      "The stream ends after the run, and after steps that were still running at its end.",
    params: z.object({ run_id: z.string() }),
  };
  app.get("/runs/:run_id/events", { onRequest: requireCredential(http), schema: following }, async (request, reply) => {
    const lastSeen = readLastEventId(request);
    const row = await requireRun(http, request.caller, request.params.run_id);
    http.streams.count(reply);
    await followRun(http, waitForEvents, { row, lastSeen, reply });
    return reply;
  });
}
