import { currentTime } from "#events/clock.ts";
import { listExtractions } from "#projections/extractions/query.ts";
import { requireSession } from "../auth/authenticate.ts";
import type { App } from "../base/app.ts";
import type { Http } from "../base/deps.ts";
import { describeList, pageResponse, type Page } from "../base/pageResponse.ts";
import { PageQuery } from "../base/pagination.ts";
import { Extraction, ExtractionStatus, presentReading } from "../extractions/extractionShape.ts";

/** Lists the organization's extractions for people, because the extraction API has no list (spec). */
export function listedExtractionRoutes(app: App, http: Http): void {
  const schema = {
    ...describeList(
      { tags: ["Extraction"], security: [{ session: [] }] },
      "List the extractions of the organization, newest first",
      Extraction,
    ),
    description: "Without their Markdown.",
    querystring: PageQuery.extend({ status: ExtractionStatus.optional() }),
  };
  app.get(
    "/extractions",
    { onRequest: requireSession(http), schema },
    async ({ caller: { organization_id }, query }) => {
      await http.waitUntilCurrent(["extractions"]);
      const now = new Date(currentTime());
      const read = (page: Page) => listExtractions(http.db, organization_id, query.status ?? null, { now, ...page });
      return pageResponse(query, read, presentReading(http));
    },
  );
}
