import { isUuid, streamOf } from "#events/ids.ts";
import { getCollection, type CollectionRow } from "#projections/collections/query.ts";
import { getDocument, type DocumentRow } from "#projections/documents/query.ts";
import type { Caller } from "../auth/caller.ts";
import type { Http } from "../deps.ts";
import { ApiError } from "../errors.ts";
import { isSlug } from "./slug.ts";

type Needs = Pick<Http, "db" | "freshRead">;

/** What is not found may have been made a moment ago: then the read models are waited for. */
async function orFresh<R>(find: () => Promise<R | undefined>, wait: () => Promise<void>): Promise<R | undefined> {
  const found = await find();
  if (found) return found;
  await wait();
  return find();
}

export const collectionNotFound = () => new ApiError("collection_not_found", "There is no such collection.");

/** The collection of a slug or an id. Throws 400 `invalid_collection_reference`, 404 `collection_not_found`. */
export async function findCollection(
  { db, freshRead }: Needs,
  { organization_id }: Caller,
  reference: string,
): Promise<CollectionRow> {
  const id = isUuid(reference);
  if (!id && !isSlug(reference))
    throw new ApiError("invalid_collection_reference", "A collection is named by its slug or its id.", {
      param: "reference",
    });
  const row = await orFresh(
    () => getCollection(db, organization_id, reference),
    () => freshRead(["collections"], id ? streamOf("collection", reference.toLowerCase()) : undefined),
  );
  if (!row) throw collectionNotFound();
  return row;
}

/** A document of the organization, whose collection is there as well; else undefined. */
export async function lookUpDocument(
  { db, freshRead }: Needs,
  { organization_id }: Pick<Caller, "organization_id">,
  id: string,
): Promise<DocumentRow | undefined> {
  if (!isUuid(id)) return undefined;
  return orFresh(
    () => getDocument(db, organization_id, id),
    () => freshRead(["collections", "documents"], streamOf("document", id.toLowerCase())),
  );
}

export const documentNotFound = () => new ApiError("not_found", "There is no such document.");

/** As `lookUpDocument`. Throws 404 `not_found`. */
export async function findDocument(http: Needs, caller: Pick<Caller, "organization_id">, id: string) {
  const row = await lookUpDocument(http, caller, id);
  if (!row) throw documentNotFound();
  return row;
}
