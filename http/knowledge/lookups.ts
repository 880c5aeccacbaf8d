import { isUuid, streamName } from "#events/ids.ts";
import type { CollectionRow } from "#projections/collections/query.ts";
import { getDocument, type DocumentRow } from "#projections/documents/query.ts";
import type { Caller } from "../base/caller.ts";
import { canSee, requireReader, type DocumentCaller } from "./documentAccess.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { findOrWait } from "../base/findById.ts";
import { isSlug } from "./slug.ts";

type Needs = Pick<Http, "db" | "waitUntilCurrent">;

export const collectionNotFound = () => new ApiError("collection_not_found", "There is no such collection.");

/** Finds a collection by its slug or id. Throws 400 `invalid_collection_reference`, 404 `collection_not_found`. */
export async function requireCollection(
  { findCollection, waitUntilCurrent }: Pick<Http, "findCollection" | "waitUntilCurrent">,
  { organization_id }: Caller,
  reference: string,
): Promise<CollectionRow> {
  const isId = isUuid(reference);
  if (!isId && !isSlug(reference)) {
    const message = "A collection is referenced by its slug or its id.";
    throw new ApiError("invalid_collection_reference", message, { param: "reference" });
  }
  const row = await findOrWait(
    () => findCollection(organization_id, reference),
    () => waitUntilCurrent(["collections"], isId ? streamName("collection", reference.toLowerCase()) : undefined),
  );
  if (!row) throw collectionNotFound();
  return row;
}

/** Finds a document of the organization, whatever its readers. Undefined if its collection is deleted. */
export async function findAnyDocument(
  { db, waitUntilCurrent }: Needs,
  { organization_id }: Pick<Caller, "organization_id">,
  id: string,
): Promise<DocumentRow | undefined> {
  if (!isUuid(id)) return undefined;
  return findOrWait(
    () => getDocument(db, organization_id, id),
    () => waitUntilCurrent(["collections", "documents"], streamName("document", id.toLowerCase())),
  );
}

/** Finds a document that the caller may see. `user`: the end user that the request names. */
export async function findDocument(http: Needs, caller: DocumentCaller, id: string, user?: string) {
  const row = await findAnyDocument(http, caller, id);
  return row && (await canSee(http, caller, row, user)) ? row : undefined;
}

export const documentNotFound = () => new ApiError("not_found", "There is no such document.");

/**
 * Reads a document that the caller has just changed. Without a check of access, because callers may have removed themselves as
 * readers. Throws 404 `not_found`.
 */
export async function readChangedDocument(http: Needs, caller: DocumentCaller, id: string): Promise<DocumentRow> {
  const row = await findAnyDocument(http, caller, id);
  if (!row) throw documentNotFound();
  return row;
}

/** Throws 404 `not_found`. */
export async function requireDocument(
  http: Needs,
  caller: DocumentCaller,
  id: string,
  user?: string,
): Promise<DocumentRow> {
  const row = await findDocument(http, caller, id, user);
  if (!row) throw documentNotFound();
  return row;
}

/** Finds a document that the caller may read. Throws 404 `not_found` and 403 `not_a_reader`. */
export async function requireReadable(
  http: Needs,
  caller: DocumentCaller,
  id: string,
  user?: string,
): Promise<DocumentRow> {
  const row = await requireDocument(http, caller, id, user);
  await requireReader(http, caller, row, user);
  return row;
}

/** Finds a document, with the text of a version, which may have been replaced. Throws the errors of requireReadable. */
export async function requireVersion(
  http: Needs,
  caller: DocumentCaller,
  { id, user, version }: { id: string; user: string | undefined; version: number },
): Promise<DocumentRow> {
  await requireReadable(http, caller, id, user);
  const row = await getDocument(http.db, caller.organization_id, id, version);
  if (!row) throw documentNotFound();
  return row;
}
