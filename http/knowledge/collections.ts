import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { ChangeCollection, CreateCollection, DeleteCollection } from "#events/collection.ts";
import { newId, streamOf } from "#events/ids.ts";
import { nameKeyOf } from "#projections/collections/nameKey.ts";
import { listCollections, type CollectionRow } from "#projections/collections/query.ts";
import type { App } from "../app.ts";
import type { Http } from "../deps.ts";
import { ApiError } from "../errors.ts";
import { commandId, fingerprintOf, idempotencyKey, madeBefore } from "../idempotency.ts";
import { listOf, PageQuery, pageOf } from "../page.ts";
import { writtenAt } from "../send.ts";
import { validator } from "../validate.ts";
import { Change, CHANGE_CODES, Collection, Create, CREATE_CODES, present } from "./collectionShape.ts";
import { findCollection } from "./find.ts";
import { slugOf } from "./slug.ts";

const envelope = ({ caller, id }: FastifyRequest, collection_id: string) => ({
  stream: streamOf("collection", collection_id),
  organization_id: caller.organization_id,
  principal: caller.principal,
  request_id: id,
  waitFor: ["collections"],
});

/** A name is taken once in an organization, whatever its case. */
const nameClaim = ({ keyring }: Http, organization: string, name: string): string =>
  keyring.mark("name", `${organization}\n${nameKeyOf(name)}`);

async function create(http: Http, request: FastifyRequest, body: z.infer<typeof Create>): Promise<CollectionRow> {
  const { organization_id, principal } = request.caller;
  const { name, description = "" } = body;
  const slug = slugOf(name);
  if (slug === undefined) throw new ApiError("invalid_name", "No slug can be made from this name.", { param: "name" });
  const asking = { organization_id, principal, user: undefined, method: "POST", path: "/api/v1/knowledge/collections" };
  const id = commandId(asking, idempotencyKey(request.headers));
  const fingerprint = fingerprintOf(asking, request.bodyHash);
  const collection_id = newId();
  const slug_claim = http.keyring.mark("slug", `${organization_id}\n${slug}`);
  const name_claim = nameClaim(http, organization_id, name);
  const data = { collection_id, slug, slug_claim, name, name_claim, description };
  const sent = await http.send(CreateCollection, {
    ...envelope(request, collection_id),
    id,
    fingerprint,
    fresh: true,
    data,
  });
  if (sent.repeated)
    return findCollection(http, request.caller, await madeBefore(http.db, organization_id, id, fingerprint));
  if (sent.followed) return findCollection(http, request.caller, collection_id);
  const at = await writtenAt(http, sent.position);
  const documents = { ready: 0, pending: 0, failed: 0, total: 0, bytes: 0 };
  return { id: collection_id, slug, name, description, documents, created_at: at, updated_at: at };
}

async function change(http: Http, request: FastifyRequest, reference: string, body: z.infer<typeof Change>) {
  const { id: collection_id } = await findCollection(http, request.caller, reference);
  const { name, description } = body;
  const name_claim = name === undefined ? undefined : nameClaim(http, request.caller.organization_id, name);
  const data = { collection_id, name, name_claim, description };
  await http.send(ChangeCollection, { ...envelope(request, collection_id), data, mustFollow: true });
  return findCollection(http, request.caller, collection_id);
}

/** Collections (spec: Knowledge API). */
export function collectionRoutes(app: App, http: Http): void {
  const described = { tags: ["Knowledge"], security: [{ key: [] }] };
  const one = { ...described, params: z.object({ reference: z.string().describe("Slug or id.") }) };

  const listing = {
    ...described,
    summary: "List collections",
    querystring: PageQuery,
    response: { 200: listOf(Collection) },
  };
  app.get("/collections", { schema: listing }, async ({ caller, query }) => {
    const page = pageOf(query);
    await http.freshRead(["collections"]);
    const { rows, total } = await listCollections(http.db, caller.organization_id, page);
    return { data: rows.map(present), total, ...page };
  });

  const creating = { ...described, summary: "Create a collection", body: Create, response: { 201: Collection } };
  app.post("/collections", { schema: creating, validatorCompiler: validator(CREATE_CODES) }, async (request, reply) =>
    reply.code(201).send(present(await create(http, request, request.body))),
  );

  const reading = { ...one, summary: "One collection", response: { 200: Collection } };
  app.get("/collections/:reference", { schema: reading }, async ({ caller, params }) =>
    present(await findCollection(http, caller, params.reference)),
  );

  const changing = {
    ...one,
    summary: "Rename or describe a collection",
    description: "Its slug stays.",
    body: Change,
    response: { 200: Collection },
  };
  app.patch(
    "/collections/:reference",
    { schema: changing, validatorCompiler: validator(CHANGE_CODES) },
    async (request) => present(await change(http, request, request.params.reference, request.body)),
  );

  const deleting = { ...one, summary: "Delete a collection and all that is in it", response: { 204: z.null() } };
  app.delete("/collections/:reference", { schema: deleting }, async (request, reply) => {
    const { id: collection_id } = await findCollection(http, request.caller, request.params.reference);
    await http.send(DeleteCollection, {
      ...envelope(request, collection_id),
      data: { collection_id },
      mustFollow: true,
    });
    return reply.code(204).send(null);
  });
}
