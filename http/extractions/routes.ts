import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { DeleteExtraction } from "#events/extraction.ts";
import { requireProduct } from "../auth/authenticate.ts";
import type { App } from "../base/app.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { formRoute } from "../upload/formRoute.ts";
import { UploadForm } from "../upload/readUpload.ts";
import { commandFor, extract, extractionNotFound, requireExtraction, withMarkdown } from "./extract.ts";
import { Extraction, presentExtraction, presentReading } from "./extractionShape.ts";

async function remove(http: Http, request: FastifyRequest, id: string): Promise<void> {
  const row = await requireExtraction(http, request.caller, id);
  const command = { ...commandFor(request, row.id), data: { extraction_id: row.id }, requireProjected: true };
  await http.send(DeleteExtraction, command).catch((error: unknown) => {
    throw error instanceof ApiError && error.status === 404 ? extractionNotFound() : error;
  });
}

/** The extraction API (spec), below /api/v1. */
export function extractionRoutes(app: App, http: Http): void {
  app.addHook("onRequest", requireProduct(http, "extraction"));
  const baseSchema = { tags: ["Extraction"], security: [{ key: [] }] };
  const itemSchema = { ...baseSchema, params: z.object({ id: z.string() }) };

  const requesting = {
    ...baseSchema,
    summary: "Turn a file into Markdown",
    consumes: ["multipart/form-data"],
    body: UploadForm,
    response: { 200: Extraction.describe("The existing extraction of identical bytes."), 202: Extraction },
  };
  app.post("/extractions", { ...formRoute("invalid_body"), schema: requesting }, async (request, reply) => {
    const { status, extraction } = await extract(http, request);
    return reply.code(status).send(presentExtraction(extraction));
  });

  const reading = { ...itemSchema, summary: "Get an extraction and its Markdown", response: { 200: Extraction } };
  app.get("/extractions/:id", { schema: reading }, async (request) =>
    presentReading(http)(
      await withMarkdown(http, request, await requireExtraction(http, request.caller, request.params.id)),
    ),
  );

  const deleting = {
    ...itemSchema,
    summary: "Delete an extraction, its file and its text",
    response: { 204: z.null() },
  };
  app.delete("/extractions/:id", { schema: deleting }, async (request, reply) => {
    await remove(http, request, request.params.id);
    return reply.code(204).send(null);
  });
}
