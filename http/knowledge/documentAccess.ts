import { isDeepStrictEqual } from "node:util";
import type { DocumentReader } from "#events/documentDetails.ts";
import type { DocumentRow } from "#projections/documents/query.ts";
import { identifyReader, mayRead } from "#projections/documents/readers.ts";
import { findUnknownPeople } from "#projections/groups/query.ts";
import type { Caller } from "../base/caller.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";

/* Access to documents with a list of readers (ADR 52). */

type Needs = Pick<Http, "db">;
export type DocumentCaller = Pick<Caller, "organization_id" | "principal" | "session">;

/** Whether the caller can see and change every document, though not read it: a key without an end user, an owner or an admin. */
export const managesDocuments = ({ session }: Pick<Caller, "session">, user?: string): boolean =>
  session ? session.role === "owner" || session.role === "admin" : user === undefined;

/** The readers as whom a request reads. `user`: the end user that it names. */
export const readerOf = (
  { db }: Needs,
  { organization_id, principal }: DocumentCaller,
  user?: string,
): Promise<DocumentReader[]> => identifyReader(db, organization_id, { principal, user: user ?? null });

/** Whether the caller may read the text of a document. */
export const canRead = async (
  http: Needs,
  caller: DocumentCaller,
  { readers }: Pick<DocumentRow, "readers">,
  user?: string,
): Promise<boolean> => readers === null || mayRead(readers, await readerOf(http, caller, user));

/** Whether the caller may know that the document exists. */
export const canSee = async (
  http: Needs,
  caller: DocumentCaller,
  row: Pick<DocumentRow, "readers">,
  user?: string,
): Promise<boolean> => managesDocuments(caller, user) || canRead(http, caller, row, user);

/** Throws 403 `not_a_reader` if the caller may see the document but not read it. */
export async function requireReader(
  http: Needs,
  caller: DocumentCaller,
  row: DocumentRow,
  user?: string,
): Promise<void> {
  if (await canRead(http, caller, row, user)) return;
  const message = "The document names who may read it, and you are not among them. You may change its readers.";
  throw new ApiError("not_a_reader", message);
}

/** Throws a 400 for a reader who is not an active member. */
export async function checkReaders(
  { db }: Needs,
  organization_id: string,
  readers: DocumentReader[] | null | undefined,
) {
  const people = (readers ?? []).flatMap((reader) => ("person" in reader ? [reader.person] : []));
  const [unknown] = people.length > 0 ? await findUnknownPeople(db, organization_id, people) : [];
  if (unknown === undefined) return;
  throw new ApiError(null, `readers: there is no member ${unknown}.`, { param: "readers" });
}

/** Whether a change only takes readers away, which nobody can repeat for ever. */
export const takesReadersAway = (
  { readers: before }: Pick<DocumentRow, "readers">,
  { readers: after, ...others }: { readers?: DocumentReader[] | null | undefined },
): boolean => {
  if (!after || Object.values(others).some((value) => value !== undefined)) return false;
  if (before === null) return true;
  return after.length < before.length && after.every((reader) => before.some((one) => isDeepStrictEqual(one, reader)));
};

/** The answer if the same bytes exist in a document that the sender may not see. It reveals only that they exist. */
export const hiddenDocument = () =>
  new ApiError("already_exists", "The collection has this document already, and you may not read it.");
