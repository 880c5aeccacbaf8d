import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { HOLD_SUBJECT, holdStream, PlaceHold, ReleaseHold } from "#events/hold.ts";
import { deriveId, isUuid, newId, streamName } from "#events/ids.ts";
import { getHold, isHoldable, listHolds, type HoldRow } from "#projections/holds/query.ts";
import { requireAdmin } from "../auth/authenticate.ts";
import type { App } from "../base/app.ts";
import { commandFields } from "../base/commandFields.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { identifyPost } from "../base/idempotency.ts";
import { MAX_SUBJECT, markUser } from "../base/limits.ts";
import { describeList, pageResponse } from "../base/pageResponse.ts";

const WANTED =
  "must be organization, project:<id>, key:<id>, person:<id>, agent:<id>, user:<value>, thread:<id>, file:<id>, document:<id> or run:<id>.";
const isSubject = (text: string): boolean =>
  /^user:/i.test(text) ? /^user:./s.test(text) : HOLD_SUBJECT.test(text.toLowerCase());
const HoldToPlace = z.strictObject({
  subject: z
    .string()
    .max(MAX_SUBJECT)
    .refine(isSubject, WANTED)
    .describe(
      "What is kept: something that is there, or an owner who was deleted and left things behind. The log keeps a mark of a user's value that tells nothing.",
    ),
  name: z.string().trim().min(1).max(100).describe("Such as a file number; it stays in the log. Name no person here."),
  reason: z.string().trim().min(1).max(2_000),
});
const Hold = z
  .object({
    id: z.string(),
    subject: z.string(),
    name: z.string(),
    reason: z.string(),
    placed_by: z.string().describe("`person:<id>`."),
    created_at: z.iso.datetime(),
    released_by: z.string().nullable(),
    released_at: z.iso.datetime().nullable().describe("Null: it stands."),
  })
  .meta({ title: "Hold" });

const lower = (subject: string): string => (subject.startsWith("user:") ? subject : subject.toLowerCase());

const present = ({ created_at, released_at, ...row }: HoldRow): z.infer<typeof Hold> => ({
  ...row,
  created_at: created_at.toISOString(),
  released_at: released_at?.toISOString() ?? null,
});

async function read(http: Http, { caller }: Pick<FastifyRequest, "caller">, id: string) {
  await http.waitUntilCurrent(["holds"]);
  const row = isUuid(id) ? await getHold(http.db, caller.organization_id, id) : undefined;
  if (!row) throw new ApiError("hold_not_found", "No hold has this id.", { param: "id" });
  return row;
}

const commandFor = (request: FastifyRequest) => ({
  ...commandFields(request, holdStream(request.caller.organization_id), ["holds"]),
  requireProjected: true,
});

/** The read models that `isHoldable` uses. */
const NAMED = ["projects", "usage", "users", "turns", "files", "documents", "runs"];

/** Checks that a subject exists: a misspelt id would look like a hold and keep nothing. Throws a 400. */
async function checkHoldable(http: Http, organization: string, subject: string): Promise<void> {
  const isKnown = () => isHoldable(http.db, organization, subject);
  if (await isKnown()) return;
  // it may have been created a moment ago
  await http.waitUntilCurrent(NAMED);
  if (await isKnown()) return;
  const [kind, id] = subject.split(":");
  throw new ApiError(null, `subject: no ${kind} of this organization has the id ${id}, or it was deleted.`, {
    param: "subject",
  });
}

async function place(http: Http, request: FastifyRequest, { subject, ...body }: z.infer<typeof HoldToPlace>) {
  const { organization_id } = request.caller;
  const identity = identifyPost(request, "/api/holds");
  // with an Idempotency-Key the id is derived, so that a repeated request finds the first one's hold
  const hold_id = identity.hasKey ? deriveId("hold", identity.id) : newId();
  const thing = streamName("hold", hold_id);
  const user = subject.startsWith("user:") ? subject.slice("user:".length) : undefined;
  const covered = user === undefined ? lower(subject) : `user:${markUser(http, organization_id, user)}`;
  await checkHoldable(http, organization_id, covered);
  await http.send(PlaceHold, {
    ...commandFor(request),
    ...identity,
    keys: { [thing]: http.vault.createKey(thing) },
    data: { hold_id, subject: covered, ...body },
  });
  return present(await read(http, request, hold_id));
}

/** Legal holds protect what they cover from every erasure until they are released. For owners and admins. */
export function holdRoutes(app: App, http: Http): void {
  const onRequest = requireAdmin(http);
  const baseSchema = { tags: ["Retention"], security: [{ session: [] }] };
  const itemSchema = { ...baseSchema, params: z.object({ id: z.string() }) };

  const listing = describeList(baseSchema, "List holds, also those that were released", Hold);
  app.get("/holds", { onRequest, schema: listing }, async ({ caller, query }) => {
    await http.waitUntilCurrent(["holds"]);
    return pageResponse(query, (page) => listHolds(http.db, caller.organization_id, page), present);
  });

  const placing = {
    ...baseSchema,
    summary: "Place a hold",
    description:
      "Nothing that it covers is erased while it stands: deletions answer 409 `legal_hold`, retention skips it, and a running erasure waits for the release.",
    body: HoldToPlace,
    response: { 201: Hold },
  };
  app.post("/holds", { onRequest, schema: placing }, async (request, reply) =>
    reply.code(201).send(await place(http, request, request.body)),
  );

  const releasing = { ...itemSchema, summary: "Release a hold", response: { 200: Hold } };
  app.delete("/holds/:id", { onRequest, schema: releasing }, async (request) => {
    const { id } = await read(http, request, request.params.id);
    await http.send(ReleaseHold, { ...commandFor(request), data: { hold_id: id } });
    return present(await read(http, request, id));
  });
}
