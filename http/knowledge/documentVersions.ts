import { z } from "zod";
import { streamName } from "#events/ids.ts";
import { listVersions, type VersionRow } from "#projections/documents/versions.ts";
import type { App } from "../base/app.ts";
import type { Http } from "../base/deps.ts";
import { describeList, sliceResponse } from "../base/pageResponse.ts";
import { UserQuery } from "./documentShape.ts";
import { requireDocument } from "./lookups.ts";

/**
 * Maximum events that are read to find when versions became live. Only twenty texts are kept, but reprocessing creates versions
 * without a text.
 */
const MAX_TIMES = 200;

const Version = z
  .object({
    document_id: z.string(),
    version: z.int().describe("For `version` of the text and the passages."),
    current: z.boolean().describe("Whether search shows it now."),
    page_count: z.int().nullable(),
    chunk_count: z.int().describe("Number of passages."),
    indexed_at: z.iso
      .datetime()
      .nullable()
      .describe("When search first showed it; null if that was too many versions ago."),
  })
  .meta({ title: "DocumentVersion" });

/** The times at which the last versions became live. */
async function readTimes(http: Http, organization: string, document_id: string): Promise<Map<number, string>> {
  const { events } = await http.readAuditSlice(organization, {
    after: Number.MAX_SAFE_INTEGER,
    stream: streamName("document", document_id),
    types: ["DocumentIndexed"],
    limit: MAX_TIMES,
    newest_first: true,
  });
  return new Map(
    events.map(({ data }) => {
      const { generation, indexed_at } = data as { generation: number; indexed_at: string };
      return [generation, indexed_at];
    }),
  );
}

const presenter =
  (document_id: string, times: Map<number, string>) =>
  ({ generation, is_live, page_count, chunk_count }: VersionRow): z.infer<typeof Version> => ({
    document_id,
    version: generation,
    current: is_live,
    page_count,
    chunk_count,
    indexed_at: times.get(generation) ?? null,
  });

/** The versions of a document whose text is still stored (docs/search.md). */
export function versionRoutes(app: App, http: Http): void {
  const baseSchema = {
    tags: ["Knowledge"],
    security: [{ key: [] }],
    params: z.object({ id: z.string() }),
  };
  const listing = describeList(baseSchema, "List the versions of a document that are kept, newest first", Version);
  const schema = { ...listing, querystring: listing.querystring.extend(UserQuery.shape) };
  app.get("/documents/:id/versions", { schema }, async ({ caller, params, query }) => {
    const { id } = await requireDocument(http, caller, params.id, query.user);
    const rows = await listVersions(http.db, caller.organization_id, id);
    const times = await readTimes(http, caller.organization_id, id);
    return sliceResponse(query, rows, presenter(id, times));
  });
}
