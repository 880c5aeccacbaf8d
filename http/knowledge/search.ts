import { allCollections, resolveCollections, type NamedCollection } from "#projections/collections/query.ts";
import { documentsAmong } from "#projections/documents/query.ts";
import { SearchFailed } from "#projections/passages/engine.ts";
import { searchPassages } from "#projections/passages/search.ts";
import type { App } from "../app.ts";
import type { Caller } from "../auth/caller.ts";
import type { Http } from "../deps.ts";
import { ApiError, badGateway } from "../errors.ts";
import { validator } from "../validate.ts";
import { Found, presentGroup, Search, SEARCH_CODES, windowOf } from "./searchShape.ts";

/** Slugs that a message lists. */
const MOST_SLUGS = 200;

async function unknownCollection({ db }: Http, organization: string, name: string): Promise<ApiError> {
  const slugs = (await allCollections(db, organization)).map(({ slug }) => slug);
  const listed = slugs.slice(0, MOST_SLUGS).join(", ") + (slugs.length > MOST_SLUGS ? ", …" : "");
  const known = slugs.length === 0 ? "There is no collection yet" : `Valid slugs: ${listed}`;
  return new ApiError("unknown_collection", `There is no collection ${JSON.stringify(name.slice(0, 200))}. ${known}.`, {
    param: "collections",
  });
}

/** The collections to be searched; none named: all. What is not found may have been made a moment ago. Throws `unknown_collection`. */
async function searched(http: Http, organization: string, names: string[]): Promise<NamedCollection[]> {
  if (names.length === 0) return allCollections(http.db, organization);
  const resolve = () => resolveCollections(http.db, organization, names);
  let { found, unknown } = await resolve();
  if (unknown.length > 0) {
    await http.freshRead(["collections"]);
    ({ found, unknown } = await resolve());
  }
  if (unknown.length > 0) throw await unknownCollection(http, organization, unknown[0]!);
  return found;
}

/** Ids of documents of the searched collections, each once. Throws `document_not_found`. */
async function within(http: Http, organization: string, sent: string[], collections: NamedCollection[]) {
  const ids = [...new Set(sent.map((id) => id.toLowerCase()))];
  if (ids.length === 0) return ids;
  const missing = async () => {
    const there = await documentsAmong(
      http.db,
      organization,
      ids,
      collections.map(({ id }) => id),
    );
    return ids.find((id) => !there.has(id));
  };
  if ((await missing()) === undefined) return ids;
  await http.freshRead(["collections", "documents"]);
  const id = await missing();
  if (id === undefined) return ids;
  throw new ApiError(
    "document_not_found",
    `No searched collection has a document ${JSON.stringify(id.slice(0, 200))}.`,
    {
      param: "document_ids",
    },
  );
}

async function search(http: Http, { organization_id }: Caller, body: Search) {
  const { query, tags } = body;
  const window = windowOf(body);
  const collections = await searched(http, organization_id, body.collections ?? []);
  const document_ids = await within(http, organization_id, body.document_ids ?? [], collections);
  const asked = { query, collections, document_ids, tags: (tags ?? []).map((tag) => tag.trim()), ...window };
  try {
    const { results, has_more } = await searchPassages(http, organization_id, asked);
    return { query, results: results.map(presentGroup), ...window, has_more };
  } catch (error) {
    if (error instanceof SearchFailed) throw badGateway("The search could not run.", error);
    throw error;
  }
}

/** Search (spec: Knowledge API, Search rules): passages with citations, no model. */
export function searchRoute(app: App, http: Http): void {
  const schema = {
    tags: ["Knowledge"],
    security: [{ key: [] }],
    summary: "Search passages",
    body: Search,
    response: { 200: Found },
  };
  app.post("/search", { schema, validatorCompiler: validator(SEARCH_CODES) }, ({ caller, body }) =>
    search(http, caller, body),
  );
}
