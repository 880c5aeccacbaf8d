import { z } from "zod";
import { isUuid, streamName } from "#events/ids.ts";
import type { App } from "../base/app.ts";
import { isBuilder, requireSession } from "../auth/authenticate.ts";
import type { Caller } from "../base/caller.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { createCursor, readCursor } from "./cursor.ts";
import { Trace } from "./traceShape.ts";
import type { OpenBlob } from "./traceThread.ts";
import { traceTurn } from "./traceTurn.ts";

type Needs = Pick<Http, "turnHistory" | "vault" | "streamPages" | "keyring" | "log" | "readAuditSlice">;

/** Accepts the id of a turn, completion or response. */
const bareId = (id: string): string => id.replace(/^(resp_|chatcmpl-)/, "").toLowerCase();

const openBlobs =
  ({ vault }: Needs): OpenBlob =>
  (turn_id, blob) =>
    vault.get({ thing: streamName("turn", turn_id) }, blob);

/** Yields the events of a thread in order, up to a position of the log. */
async function* readUntil({ streamPages }: Needs, stream: string, last = Number.POSITIVE_INFINITY) {
  for await (const { events } of streamPages(stream)) {
    const until = events.filter(({ position }) => position <= last);
    yield until;
    if (until.length < events.length) return;
  }
}

async function readTrace(http: Needs, caller: Caller, id: string, as_of: string | undefined): Promise<Trace> {
  const turn_id = bareId(id);
  const { organization_id } = caller;
  const stream = isUuid(turn_id) ? await http.turnHistory.threadStream(organization_id, turn_id) : undefined;
  const openers = { open: openBlobs(http), toCursor: createCursor(http, organization_id) };
  const trace = stream && (await traceTurn(readUntil(http, stream), turn_id, openers));
  if (!trace || !(isBuilder(caller) || trace.principal === caller.principal))
    throw new ApiError("turn_not_found", "No turn has this id.", { param: "id" });
  const last = await readCursor(http, organization_id, "as_of", as_of);
  if (last === undefined) return trace;
  const then = await traceTurn(readUntil(http, stream, last), turn_id, openers);
  if (!then) throw new ApiError(null, "as_of: the turn had not begun at this event.", { param: "as_of" });
  return then;
}

/** The whole course of one turn, read from the log alone. Builders, admins and owners may see every turn, other people their own. */
export function traceRoutes(app: App, http: Http): void {
  const reading = {
    tags: ["Audit"],
    security: [{ session: [] }],
    summary: "Get the trace of a turn",
    description:
      "The exact prompt, every round with the inputs and outputs of its tools, tokens, times and attempts, as recorded in the log. " +
      "For turns of chats and of agents: the id is that of `chatcmpl-…` or `resp_…`, with or without the prefix. " +
      "Builders, admins and owners read those of the whole organization, other people those of their own turns.",
    params: z.object({ id: z.string() }),
    querystring: z.object({
      as_of: z
        .string()
        .optional()
        .describe("The cursor of an event: the turn as it was then. What was deleted since is not shown."),
    }),
    response: { 200: Trace },
  };
  app.get("/turns/:id/trace", { onRequest: requireSession(http), schema: reading }, async (request) => {
    const { caller, params, query } = request;
    await request.acquireLongRead();
    return readTrace(http, caller, params.id, query.as_of);
  });
}
