import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { streamOf } from "#events/ids.ts";
import type { RunRow } from "#projections/runs/query.ts";
import type { App } from "../app.ts";
import { requireCredential } from "../auth/authenticate.ts";
import { goneSignal } from "../chat/unanswered.ts";
import type { Http } from "../deps.ts";
import { ApiError } from "../errors.ts";
import { openEventStream } from "../sse.ts";
import type { RunHappened } from "./foldSteps.ts";
import { watchGrowth, type Growth } from "./growth.ts";
import { reachRun } from "./reach.ts";
import { framesOf } from "./tell.ts";
import { opener } from "./value.ts";

/** How long steps that a run has left behind are waited for. */
const LATE_MS = 30_000;
/** What is told between two looks at whether the reader keeps up, in characters. */
const AT_ONCE = 64 * 1024;

/** Where a run stands for those who follow it: whether it is over, and which of its steps run. */
function track() {
  const running = new Set<string>();
  let over = false;
  return {
    see({ type, data }: RunHappened): void {
      if (type === "RunCompleted" || type === "RunFailed" || type === "RunCancelled" || type === "RunForgotten")
        over = true;
      if (type === "StepStarted") running.add(data.key);
      if (
        type === "StepCompleted" ||
        type === "StepFailed" ||
        type === "StepAttemptFailed" ||
        type === "StepAttemptLost"
      )
        running.delete(data.key);
    },
    isOver: () => over,
    isQuiet: () => over && running.size === 0,
  };
}

/** Version of the last event that a client has; 0 for none. Throws a 400. */
function lastSeen({ headers }: FastifyRequest): number {
  const id = headers["last-event-id"];
  if (id === undefined || id === "") return 0;
  if (typeof id === "string" && /^\d{1,9}$/.test(id)) return Number(id);
  throw new ApiError(null, "Last-Event-ID must be the id of an event.", { param: "Last-Event-ID" });
}

/** Tells a run's events as they come. Whoever goes away can come back with the id of the last one, to any process. */
async function follow(
  http: Http,
  grown: Growth,
  { row, seen, reply }: { row: RunRow; seen: number; reply: FastifyReply },
): Promise<void> {
  const stream = streamOf("run", row.id);
  const open = opener(http, row);
  const gone = goneSignal(reply.raw);
  const sse = openEventStream(reply, ": ping\n\n");
  const progress = track();
  let version = 0;
  let frames = "";
  let until: number | undefined;
  while (!gone.aborted) {
    // while the log cannot be read, it is read again
    const events = (await http.history(stream, version + 1).catch(() => [])) as RunHappened[];
    for (const event of events) {
      version = event.version;
      progress.see(event);
      if (event.version <= seen) continue;
      frames += await framesOf(event, open);
      if (frames.length < AT_ONCE && event !== events.at(-1)) continue;
      sse.write(frames);
      frames = "";
      await sse.drained();
      if (gone.aborted) return;
    }
    if (progress.isQuiet()) break;
    if (progress.isOver()) until ??= Date.now() + LATE_MS;
    if (until !== undefined && Date.now() >= until) break;
    const late = until === undefined ? [] : [AbortSignal.timeout(Math.max(0, until - Date.now()))];
    await grown({ stream, version }, AbortSignal.any([gone, ...late]));
  }
  sse.end("");
}

/** A run's events by SSE. */
export function followRoutes(app: App, http: Http): void {
  const grown = watchGrowth(http);
  const following = {
    tags: ["Workflows"],
    security: [{ key: [] }],
    summary: "A run's events as they come (SSE)",
    description:
      "`id` is the version of the run's stream; with `Last-Event-ID` it goes on after that event, from any process. Events are `run.*`, `step.*`, " +
      "`approval.*` and `timer.*`. It ends after the run, and after steps that the run has left behind.",
    params: z.object({ run_id: z.string() }),
  };
  app.get("/runs/:run_id/events", { onRequest: requireCredential(http), schema: following }, async (request, reply) => {
    const seen = lastSeen(request);
    const row = await reachRun(http, request.caller, request.params.run_id);
    await follow(http, grown, { row, seen, reply });
    return reply;
  });
}
