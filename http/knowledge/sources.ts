import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { newId } from "#events/ids.ts";
import { ChangeSource, CreateSource } from "#events/source.ts";
import { listSources } from "#projections/sources/query.ts";
import type { App } from "../base/app.ts";
import { checkCount } from "../base/countLimits.ts";
import type { Http } from "../base/deps.ts";
import { createOnce, findCreated, identifyPost } from "../base/idempotency.ts";
import { describeList, pageResponse } from "../base/pageResponse.ts";
import { validator } from "../base/validate.ts";
import { checkSchedule } from "../base/scheduleRule.ts";
import { requireCollection } from "./lookups.ts";
import { SOURCE_ROUTE, commandFor, SOURCE_ID_ROUTE, requireSource } from "./requireSource.ts";
import { ChangeSourceBody, CreateSourceBody, presentSource, Source, SOURCE_CODES } from "./sourceShape.ts";

/** The rule of a schedule. Null if the request removes the schedule, and undefined if it does not contain one. */
const readRule = ({ settings }: Http, schedule: z.infer<typeof ChangeSourceBody>["schedule"]) =>
  schedule && checkSchedule(schedule, { min_seconds: settings.SCHEDULE_SECONDS, jitter_seconds: 0 });

async function create(http: Http, request: FastifyRequest, reference: string, body: z.infer<typeof CreateSourceBody>) {
  const { organization_id } = request.caller;
  const { id: collection_id } = await requireCollection(http, request.caller, reference);
  const identity = identifyPost(request, `/api/v1/knowledge/collections/${collection_id}/sources`);
  const earlier = await findCreated(http, identity);
  if (earlier !== undefined) return requireSource(http, request, earlier);
  await checkCount(http, organization_id, "sources");
  const { schedule, ...given } = body;
  const source_id = newId();
  const url = new URL(body.url);
  url.hash = "";
  const data = { source_id, collection_id, ...given, url: url.href, rule: readRule(http, schedule) ?? null };
  const command = { ...commandFor(request, source_id), ...identity, data };
  const { created_id } = await createOnce(http, CreateSource, { ...command, requireProjected: true });
  return requireSource(http, request, created_id);
}

/** Sources are URLs whose pages become documents of a collection (docs/documents.md). */
export function sourceRoutes(app: App, http: Http): void {
  const inCollection = {
    ...SOURCE_ROUTE,
    params: z.object({ reference: z.string().describe("Slug or id of the collection.") }),
  };

  const listing = describeList(inCollection, "List the sources of a collection", Source);
  app.get("/collections/:reference/sources", { schema: listing }, async ({ caller, params, query }) => {
    const { id } = await requireCollection(http, caller, params.reference);
    await http.waitUntilCurrent(["sources"]);
    return pageResponse(query, (page) => listSources(http.db, caller.organization_id, id, page), presentSource);
  });

  const creating = {
    ...inCollection,
    summary: "Create a source, and read it",
    body: CreateSourceBody,
    response: { 201: Source },
  };
  app.post(
    "/collections/:reference/sources",
    { schema: creating, validatorCompiler: validator(SOURCE_CODES) },
    async (request, reply) =>
      reply.code(201).send(presentSource(await create(http, request, request.params.reference, request.body))),
  );

  const reading = { ...SOURCE_ID_ROUTE, summary: "Get a source, and how far its read is", response: { 200: Source } };
  app.get("/sources/:id", { schema: reading }, async (request) =>
    presentSource(await requireSource(http, request, request.params.id)),
  );

  const changing = {
    ...SOURCE_ID_ROUTE,
    summary: "Change, pause or resume a source",
    description: "Fields left out keep their value. The next read applies them.",
    body: ChangeSourceBody,
    response: { 200: Source },
  };
  app.patch("/sources/:id", { schema: changing, validatorCompiler: validator(SOURCE_CODES) }, async (request) => {
    const { id: source_id } = await requireSource(http, request, request.params.id);
    const { schedule, ...given } = request.body;
    const data = { source_id, ...given, rule: readRule(http, schedule) };
    await http.send(ChangeSource, { ...commandFor(request, source_id), data, requireProjected: true });
    return presentSource(await requireSource(http, request, source_id));
  });
}
