import type { DocumentReader } from "#events/documentDetails.ts";
import { listAllCollections, type NamedCollection } from "#projections/collections/query.ts";
import { filterDocuments } from "#projections/documents/query.ts";
import { SearchBusy, SearchFailed } from "#projections/passages/engine.ts";
import { searchPassages, SearchTooDeep } from "#projections/passages/search.ts";
import type { App } from "../base/app.ts";
import type { Caller } from "../base/caller.ts";
import type { Http } from "../base/deps.ts";
import { ApiError, badGateway } from "../base/errors.ts";
import { resolveCurrentCollections } from "../base/resolveCurrentCollections.ts";
import { readerOf } from "./documentAccess.ts";
import { validator } from "../base/validate.ts";
import { readFilter } from "./searchFilter.ts";
import {
  presentGroup,
  reachableWindow,
  readWindow,
  requireReachable,
  SearchRequest,
  SEARCH_CODES,
  SearchResponse,
} from "./searchShape.ts";

/** Maximum slugs listed in an error message. */
const MAX_LISTED_SLUGS = 200;

async function unknownCollection({ db }: Http, organization: string, name: string): Promise<ApiError> {
  const slugs = (await listAllCollections(db, organization)).map(({ slug }) => slug);
  const listed = slugs.slice(0, MAX_LISTED_SLUGS).join(", ") + (slugs.length > MAX_LISTED_SLUGS ? ", …" : "");
  const known = slugs.length === 0 ? "There is no collection yet" : `Valid slugs: ${listed}`;
  return new ApiError("unknown_collection", `There is no collection ${JSON.stringify(name.slice(0, 200))}. ${known}.`, {
    param: "collections",
  });
}

/** Finds the named collections, or all if none is named. Throws `unknown_collection`. */
async function findCollections(http: Http, organization: string, names: string[]): Promise<NamedCollection[]> {
  if (names.length === 0) return listAllCollections(http.db, organization);
  const { found, unknown } = await resolveCurrentCollections(http, organization, names);
  if (unknown.length > 0) throw await unknownCollection(http, organization, unknown[0]!);
  return found;
}

/** Returns the ids without duplicates. Throws `document_not_found` for a document outside the searched collections. */
async function checkDocumentIds(
  http: Http,
  organization: string,
  sent: string[],
  { collections, reader }: { collections: NamedCollection[]; reader: DocumentReader[] },
) {
  const ids = [...new Set(sent.map((id) => id.toLowerCase()))];
  if (ids.length === 0) return ids;
  const findMissing = async () => {
    const existing = await filterDocuments(
      http.db,
      organization,
      ids,
      collections.map(({ id }) => id),
      reader,
    );
    return ids.find((id) => !existing.has(id));
  };
  if ((await findMissing()) === undefined) return ids;
  await http.waitUntilCurrent(["collections", "documents"]);
  const id = await findMissing();
  if (id === undefined) return ids;
  throw new ApiError(
    "document_not_found",
    `No searched collection has a document ${JSON.stringify(id.slice(0, 200))}.`,
    {
      param: "document_ids",
    },
  );
}

async function search(http: Http, caller: Caller, body: SearchRequest) {
  const { organization_id } = caller;
  const { query, tags } = body;
  const window = readWindow(body);
  const collections = await findCollections(http, organization_id, body.collections ?? []);
  const reader = await readerOf(http, caller, body.user ?? undefined);
  const within = { collections, reader };
  const document_ids = await checkDocumentIds(http, organization_id, body.document_ids ?? [], within);
  const filter = body.filter ? readFilter(body.filter) : undefined;
  const scope = { ...within, document_ids, tags: (tags ?? []).map((tag) => tag.trim()), filter };
  const presentation = { by_document: body.group_by === "document", highlights: body.highlights ?? false };
  const parameters = { query, operators: true, ...scope, ...presentation, ...reachableWindow(window) };
  try {
    const { results, has_more, degraded } = await searchPassages(http, organization_id, parameters);
    requireReachable(window, results);
    return { query, results: results.map(presentGroup), ...window, has_more, ...(degraded.length > 0 && { degraded }) };
  } catch (error) {
    if (error instanceof SearchBusy)
      throw new ApiError("unavailable", "Too many searches wait for the search index; try again shortly.", {
        cause: error,
      });
    if (error instanceof SearchTooDeep)
      throw new ApiError(null, `offset: ${error.message}; ask for fewer with more words or a filter.`, {
        param: "offset",
      });
    if (error instanceof SearchFailed) throw badGateway("The search index did not answer.", error);
    throw error;
  }
}

/** Search (spec: Knowledge API, Search rules): passages with citations, without a model. */
export function searchRoute(app: App, http: Http): void {
  const schema = {
    tags: ["Knowledge"],
    security: [{ key: [] }],
    summary: "Search passages",
    body: SearchRequest,
    response: { 200: SearchResponse },
  };
  app.post("/search", { schema, validatorCompiler: validator(SEARCH_CODES) }, async ({ caller, body }, reply) => {
    const found = await search(http, caller, body);
    const { degraded = [] } = found;
    if (degraded.length > 0)
      void reply.header(`x-${http.settings.SERVICE_NAME}-search-degraded`, degraded.map(({ part }) => part).join(", "));
    return found;
  });
}
