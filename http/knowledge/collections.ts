import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { ChangeCollection, CreateCollection, DeleteCollection } from "#events/collection.ts";
import { newId, streamName } from "#events/ids.ts";
import { toNameKey } from "#projections/collections/nameKey.ts";
import { listCollections, type CollectionRow } from "#projections/collections/query.ts";
import type { App } from "../base/app.ts";
import { commandFields } from "../base/commandFields.ts";
import { checkCount } from "../base/countLimits.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { createOnce, findCreated, identifyPost } from "../base/idempotency.ts";
import { describeList, pageResponse } from "../base/pageResponse.ts";
import { readRecordedAt } from "../base/send.ts";
import { validator } from "../base/validate.ts";
import { checkNothingHeld } from "./checkNothingHeld.ts";
import {
  ChangeCollectionBody,
  CHANGE_CODES,
  Collection,
  CreateCollectionBody,
  CREATE_CODES,
  presentCollection,
} from "./collectionShape.ts";
import { requireCollection } from "./lookups.ts";
import { toSlug } from "./slug.ts";

const commandFor = (request: FastifyRequest, collection_id: string) =>
  commandFields(request, streamName("collection", collection_id), ["collections"]);

/** Names are unique in an organization, regardless of case. */
const nameClaim = ({ keyring }: Http, organization: string, name: string): string =>
  keyring.keyedHash("name", `${organization}\n${toNameKey(name)}`);

async function create(
  http: Http,
  request: FastifyRequest,
  body: z.infer<typeof CreateCollectionBody>,
): Promise<CollectionRow> {
  const { organization_id } = request.caller;
  const { name, description = "" } = body;
  const slug = toSlug(name);
  if (slug === undefined)
    throw new ApiError("invalid_name", "name: no slug can be derived from this name.", { param: "name" });
  const identity = identifyPost(request, "/api/v1/knowledge/collections");
  const earlier = await findCreated(http, identity);
  if (earlier !== undefined) return requireCollection(http, request.caller, earlier);
  await checkCount(http, organization_id, "collections");
  const collection_id = newId();
  const slug_claim = http.keyring.keyedHash("slug", `${organization_id}\n${slug}`);
  const name_claim = nameClaim(http, organization_id, name);
  const data = { collection_id, slug, slug_claim, name, name_claim, description };
  const sent = await createOnce(http, CreateCollection, { ...commandFor(request, collection_id), ...identity, data });
  if (!sent.isNew || sent.projected) return requireCollection(http, request.caller, sent.created_id);
  const at = await readRecordedAt(http, sent.position);
  const documents = { ready: 0, pending: 0, failed: 0, total: 0, bytes: 0 };
  return { id: collection_id, slug, name, description, documents, created_at: at, updated_at: at };
}

async function change(
  http: Http,
  request: FastifyRequest,
  reference: string,
  body: z.infer<typeof ChangeCollectionBody>,
) {
  const { id: collection_id } = await requireCollection(http, request.caller, reference);
  const { name, description } = body;
  const name_claim = name === undefined ? undefined : nameClaim(http, request.caller.organization_id, name);
  const data = { collection_id, name, name_claim, description };
  await http.send(ChangeCollection, { ...commandFor(request, collection_id), data, requireProjected: true });
  return requireCollection(http, request.caller, collection_id);
}

/** Collections (spec: Knowledge API). */
export function collectionRoutes(app: App, http: Http): void {
  const baseSchema = { tags: ["Knowledge"], security: [{ key: [] }] };
  const itemSchema = { ...baseSchema, params: z.object({ reference: z.string().describe("Slug or id.") }) };

  const listing = describeList(baseSchema, "List collections", Collection);
  app.get("/collections", { schema: listing }, async ({ caller, query }) => {
    await http.waitUntilCurrent(["collections"]);
    return pageResponse(query, (page) => listCollections(http.db, caller.organization_id, page), presentCollection);
  });

  const creating = {
    ...baseSchema,
    summary: "Create a collection",
    body: CreateCollectionBody,
    response: { 201: Collection },
  };
  app.post("/collections", { schema: creating, validatorCompiler: validator(CREATE_CODES) }, async (request, reply) =>
    reply.code(201).send(presentCollection(await create(http, request, request.body))),
  );

  const reading = { ...itemSchema, summary: "Get a collection", response: { 200: Collection } };
  app.get("/collections/:reference", { schema: reading }, async ({ caller, params }) =>
    presentCollection(await requireCollection(http, caller, params.reference)),
  );

  const changing = {
    ...itemSchema,
    summary: "Rename or describe a collection",
    description: "The slug does not change.",
    body: ChangeCollectionBody,
    response: { 200: Collection },
  };
  app.patch(
    "/collections/:reference",
    { schema: changing, validatorCompiler: validator(CHANGE_CODES) },
    async (request) => presentCollection(await change(http, request, request.params.reference, request.body)),
  );

  const deleting = { ...itemSchema, summary: "Delete a collection and its documents", response: { 204: z.null() } };
  app.delete("/collections/:reference", { schema: deleting }, async (request, reply) => {
    const { id: collection_id } = await requireCollection(http, request.caller, request.params.reference);
    await checkNothingHeld(http, request.caller.organization_id, { kind: "collection", id: collection_id });
    const data = { collection_id };
    await http.send(DeleteCollection, { ...commandFor(request, collection_id), data, requireProjected: true });
    return reply.code(204).send(null);
  });
}
