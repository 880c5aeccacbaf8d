import { z } from "zod";
import type { MetadataValue } from "#events/documentDetails.ts";
import { listAllCollections } from "#projections/collections/query.ts";
import { DOCUMENT_STATUSES, listDocuments } from "#projections/documents/query.ts";
import type { Caller } from "../base/caller.ts";
import type { App } from "../base/app.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { describeList, pageResponse } from "../base/pageResponse.ts";
import { PageQuery } from "../base/pagination.ts";
import { validator } from "../base/validate.ts";
import { MAX_METADATA_KEYS, MetadataKey } from "#events/documentInput.ts";
import { managesDocuments, readerOf } from "./documentAccess.ts";
import { Document, presentReading, UserQuery } from "./documentShape.ts";
import { MediaType } from "./searchFilter.ts";

const MAX_VALUES = 100;

/** A query parameter that may be repeated. */
const repeated = <T extends z.ZodType<string, string>>(one: T) =>
  z
    .union([
      one.transform((value) => [value]),
      z.array(one).max(MAX_VALUES, `must be given ${MAX_VALUES} times at most`),
    ])
    .optional();

/** Accepts additional parameters: `metadata.<key>`. */
const DocumentQuery = PageQuery.extend(UserQuery.shape)
  .extend({
    status: z.enum(DOCUMENT_STATUSES, `must be one of ${DOCUMENT_STATUSES.join(", ")}`).optional(),
    tags: repeated(z.string().trim()).describe("Only documents with this tag, or with one of several."),
    type: repeated(MediaType).describe("A file extension (`pdf`) or a media type, or several."),
    metadata: z
      .string()
      .optional()
      .describe("Write `metadata.<key>=<value>`: only documents with this value, or with one of several."),
  })
  .loose();
type DocumentQuery = z.infer<typeof DocumentQuery>;

export const CollectionQuery = DocumentQuery.extend({
  external_id: z.string().optional().describe("Lists only the document with this id of the caller's own."),
});
export type CollectionQuery = z.infer<typeof CollectionQuery>;

const PREFIX = "metadata.";

/** A parameter is always text, but the document may store the value as a number or a boolean. */
function possibleValues(sent: string): MetadataValue[] {
  if (sent === "true" || sent === "false") return [sent, sent === "true"];
  const number = sent.trim() === "" ? Number.NaN : Number(sent);
  return Number.isFinite(number) ? [sent, number] : [sent];
}

/** Reads the metadata conditions. Throws a 400 that names the parameter. */
function readMetadataConditions(query: Record<string, unknown>) {
  if (query["metadata"] !== undefined)
    throw new ApiError(null, "metadata: must name a key, as metadata.year=2026.", { param: "metadata" });
  const sent = Object.entries(query).filter(([name]) => name.startsWith(PREFIX));
  if (sent.length > MAX_METADATA_KEYS)
    throw new ApiError(null, `metadata: must have ${MAX_METADATA_KEYS} keys at most.`, { param: "metadata" });
  return sent.map(([name, value]) => {
    const refuse = (why: string) => new ApiError(null, `${name}: ${why}.`, { param: name });
    const key = MetadataKey.safeParse(name.slice(PREFIX.length));
    if (!key.success) throw refuse(key.error.issues[0]!.message);
    const values = [value].flat().map(String);
    if (values.length > MAX_VALUES) throw refuse(`must be given ${MAX_VALUES} times at most`);
    return { key: key.data, values: values.flatMap(possibleValues) };
  });
}

/** A page of the documents that match the query and that the caller may see. */
export async function listFiltered(http: Http, caller: Caller, collections: string[], query: DocumentQuery) {
  const { user, status = null, tags = [], type: types = [] } = query;
  const metadata = readMetadataConditions(query);
  await http.waitUntilCurrent(["documents"]);
  const readable_by = managesDocuments(caller, user) ? null : await readerOf(http, caller, user);
  const wanted = { status, readable_by, tags, types, metadata };
  return pageResponse(
    query,
    (page) => listDocuments(http.db, collections, { ...wanted, ...page }),
    presentReading(http),
  );
}

/** The documents of all collections. */
export function documentListRoute(app: App, http: Http): void {
  const baseSchema = { tags: ["Knowledge"], security: [{ key: [] }] };
  const listing = {
    ...describeList(baseSchema, "List the documents of all collections, newest first", Document),
    querystring: DocumentQuery,
  };
  app.get(
    "/documents",
    { schema: listing, validatorCompiler: validator([[/^status$/, "invalid_status"]]) },
    async ({ caller, query }) => {
      await http.waitUntilCurrent(["collections"]);
      const collections = await listAllCollections(http.db, caller.organization_id);
      return listFiltered(
        http,
        caller,
        collections.map(({ id }) => id),
        query,
      );
    },
  );
}
