import { z } from "zod";
import { countVectors } from "#projections/documents/vectors.ts";
import { requireAdmin } from "../auth/authenticate.ts";
import type { App } from "../base/app.ts";
import type { Http } from "../base/deps.ts";

const EmbeddingStatus = z
  .object({
    model: z
      .string()
      .nullable()
      .describe("Null: the organization has no provider `embeddings`, so search uses words only."),
    dimensions: z.int().nullable(),
    documents: z.int().describe("Documents that search shows."),
    embedded: z.int().describe("How many of them have vectors of this model."),
    fault: z
      .object({ message: z.string(), since: z.iso.datetime() })
      .nullable()
      .describe("Why no vectors can be made now. The service tries again at least once a minute."),
  })
  .meta({ title: "EmbeddingStatus" });

/** Progress of embedding an organization's passages, for owners and admins. */
export function embeddingRoutes(app: App, http: Http): void {
  const schema = {
    tags: ["Accounts"],
    security: [{ session: [] }],
    summary: "Get the status of embeddings",
    response: { 200: EmbeddingStatus },
  };
  app.get("/embeddings", { onRequest: requireAdmin(http), schema }, async ({ caller: { organization_id } }) => {
    await http.waitUntilCurrent(["documents"]);
    const { embeddings } = await http.models.describe(organization_id);
    const counts = await countVectors(http.db, organization_id, embeddings?.space ?? "");
    const fault = embeddings && (await http.embeddingFaults.find(organization_id));
    return {
      model: embeddings?.model ?? null,
      dimensions: embeddings?.dimensions ?? null,
      ...counts,
      fault: fault ? { message: fault.message, since: fault.since.toISOString() } : null,
    };
  });
}
