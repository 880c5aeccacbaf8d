import { z } from "zod";
import { isUuid, streamOf } from "#events/ids.ts";
import type { App } from "../app.ts";
import { requireAdmin } from "../auth/authenticate.ts";
import type { Http } from "../deps.ts";
import { ApiError } from "../errors.ts";
import { Trace } from "./traceShape.ts";
import { traceTurn, type OpenBlob } from "./traceTurn.ts";

type Needs = Pick<Http, "db" | "blobs" | "keyring" | "history">;

/** A turn as it is named by its completion or response, or bare. */
const bareId = (id: string): string => id.replace(/^(resp_|chatcmpl-)/, "").toLowerCase();

/** The thread that has a turn: its stream is kept with the turn's data key, which ends with the turn. */
async function threadWith({ db }: Needs, organization: string, turn_id: string): Promise<string | undefined> {
  const [found] = await db.query<{ stream: string }>(
    `select k.stream from log.keys k join log.streams s on s.stream = k.stream
     where k.thing = $1 and s.organization_id = $2`,
    [streamOf("turn", turn_id), organization],
  );
  return found?.stream;
}

/** Opens blobs of a thread's turns. */
function opener({ db, blobs, keyring }: Needs): OpenBlob {
  return async (turn_id, blob) => {
    const thing = streamOf("turn", turn_id);
    const [key] = await db.query<{ wrapped: string }>("select wrapped from log.keys where thing = $1", [thing]);
    const sealed = key && (await blobs.get(blob));
    return sealed && (await keyring.openLarge(thing, key.wrapped, sealed)).toString();
  };
}

async function trace(http: Needs, organization: string, id: string): Promise<Trace> {
  const turn_id = bareId(id);
  const stream = isUuid(turn_id) ? await threadWith(http, organization, turn_id) : undefined;
  const traced = stream && (await traceTurn(await http.history(stream), turn_id, opener(http)));
  if (!traced) throw new ApiError("turn_not_found", "No turn has this id.", { param: "id" });
  return traced;
}

/** What a turn was asked, thought, did and said (decisions: accounts), from the log alone; for owners and admins. */
export function traceRoutes(app: App, http: Http): void {
  const reading = {
    tags: ["Audit"],
    security: [{ session: [] }],
    summary: "Everything of one turn",
    description:
      "The exact prompt, every round with the inputs and outputs of its tools, tokens, times and attempts, as the log has them. " +
      "A chat's and an agent's turns alike: the id is the one in `chatcmpl-…` or `resp_…`, with the prefix or without.",
    params: z.object({ id: z.string() }),
    response: { 200: Trace },
  };
  app.get("/turns/:id/trace", { onRequest: requireAdmin(http), schema: reading }, ({ caller, params }) =>
    trace(http, caller.organization_id, params.id),
  );
}
