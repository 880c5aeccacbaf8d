import type { Reader } from "#events/documentDetails.ts";
import type { DocumentRow } from "#projections/documents/query.ts";
import { identifyReader, mayRead } from "#projections/documents/readers.ts";
import { findUnknownPeople } from "#projections/groups/query.ts";
import type { Caller } from "../base/caller.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";

/* Who may do what with a document that names its readers (ADR 52). */

type Needs = Pick<Http, "db">;
export type Reading = Pick<Caller, "organization_id" | "principal" | "session">;

/** Whether the caller sees and changes every document, without reading it: a key that acts for no end user, an owner, an admin. */
export const managesDocuments = ({ session }: Pick<Caller, "session">, user?: string): boolean =>
  session ? session.role === "owner" || session.role === "admin" : user === undefined;

/** Whom a request reads as; `user`: the end user that it names. */
export const readerOf = ({ db }: Needs, { organization_id, principal }: Reading, user?: string): Promise<Reader[]> =>
  identifyReader(db, organization_id, { principal, user: user ?? null });

/** Whether the caller may read the text of a document. */
export const canRead = async (
  http: Needs,
  caller: Reading,
  { readers }: Pick<DocumentRow, "readers">,
  user?: string,
): Promise<boolean> => readers === null || mayRead(readers, await readerOf(http, caller, user));

/** Whether the document exists for the caller. */
export const canSee = async (
  http: Needs,
  caller: Reading,
  row: Pick<DocumentRow, "readers">,
  user?: string,
): Promise<boolean> => managesDocuments(caller, user) || canRead(http, caller, row, user);

/** Throws 403 `not_a_reader` where the caller may see the document and not read it. */
export async function requireReader(http: Needs, caller: Reading, row: DocumentRow, user?: string): Promise<void> {
  if (await canRead(http, caller, row, user)) return;
  const message = "The document names who may read it, and you are not among them. You may change its readers.";
  throw new ApiError("not_a_reader", message);
}

/** Throws a 400 for a person who is no active member. */
export async function checkReaders({ db }: Needs, organization_id: string, readers: Reader[] | null | undefined) {
  const people = (readers ?? []).flatMap((reader) => ("person" in reader ? [reader.person] : []));
  const [unknown] = people.length > 0 ? await findUnknownPeople(db, organization_id, people) : [];
  if (unknown === undefined) return;
  throw new ApiError(null, `readers: there is no member ${unknown}.`, { param: "readers" });
}

/** The sender has the content and learns only that it is there already. */
export const hiddenDocument = () =>
  new ApiError("already_exists", "The collection has this document already, and you may not read it.");
