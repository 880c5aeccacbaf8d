import { z } from "zod";
import { ERASED_KINDS } from "#events/erasure.ts";
import { OWNED_MODELS } from "#projections/owned.ts";
import { countOwned } from "#projections/ownedCounts.ts";
import { requireAdmin } from "../auth/authenticate.ts";
import type { App } from "../base/app.ts";
import type { Http } from "../base/deps.ts";
import { readErasedOwner, StartErasureBody } from "./erasures.ts";
import { ExpiredCount, HeldCount, presentCount } from "./retentionShape.ts";

const ErasurePreview = z
  .object({
    threads: ExpiredCount,
    files: ExpiredCount,
    runs: ExpiredCount.describe("With each go the threads and files of its steps, which are not counted."),
    documents: ExpiredCount,
    extractions: ExpiredCount,
    held: z.array(HeldCount.extend({ kind: z.enum(ERASED_KINDS) })).describe("What stays because of a hold."),
  })
  .meta({ title: "ErasurePreview" });

/** Counts what an erasure would delete, because it cannot be undone. For owners and admins. */
export function previewErasureRoute(app: App, http: Http): void {
  const schema = {
    tags: ["Erasures"],
    security: [{ session: [] }],
    summary: "Count what an erasure would delete now",
    description:
      "Changes nothing. A hold of the owner, of its project or of the organization refuses the whole erasure.",
    body: StartErasureBody,
    response: { 200: ErasurePreview },
  };
  app.post("/erasures/preview", { onRequest: requireAdmin(http), schema }, async (request) => {
    const { owner, kinds = ERASED_KINDS } = request.body;
    const { organization_id } = request.caller;
    await request.acquireLongRead();
    await http.waitUntilCurrent(OWNED_MODELS);
    const query = { ...(await readErasedOwner(http, organization_id, owner)), kinds };
    const { held, ...counts } = await countOwned(http.db, organization_id, query, Number.MAX_SAFE_INTEGER);
    return {
      threads: presentCount(counts.threads),
      files: presentCount(counts.files),
      runs: presentCount(counts.runs),
      documents: presentCount(counts.documents),
      extractions: presentCount(counts.extractions),
      held,
    };
  });
}
