import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { streamName } from "#events/ids.ts";
import { getSource, type SourceRow } from "#projections/sources/query.ts";
import { commandFields } from "../base/commandFields.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { findOrWait } from "../base/findById.ts";

/* Shared by the routes of sources. */

export const SOURCE_ROUTE = { tags: ["Knowledge"], security: [{ key: [] }] };
export const SOURCE_ID_ROUTE = { ...SOURCE_ROUTE, params: z.object({ id: z.string() }) };

export const commandFor = (request: FastifyRequest, source_id: string) =>
  commandFields(request, streamName("source", source_id), ["sources"]);

/** Throws 404 `source_not_found`. */
export async function requireSource(
  { db, waitUntilCurrent }: Http,
  { caller }: Pick<FastifyRequest, "caller">,
  id: string,
): Promise<SourceRow> {
  const row = await findOrWait(
    () => getSource(db, caller.organization_id, id),
    () => waitUntilCurrent(["collections", "sources"]),
  );
  if (!row) throw new ApiError("source_not_found", "There is no such source.");
  return row;
}
