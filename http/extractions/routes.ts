import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { DeleteExtraction } from "#events/extraction.ts";
import type { App } from "../app.ts";
import { requireProduct } from "../auth/authenticate.ts";
import type { Http } from "../deps.ts";
import { ApiError } from "../errors.ts";
import { MAX_FILE_BYTES, OVERHEAD_BYTES } from "../upload/form.ts";
import { requireForm, UploadForm } from "../upload/upload.ts";
import { envelope, extract, extractionNotFound, lookUp, withMarkdown } from "./extract.ts";
import { Extraction, present } from "./shape.ts";

async function destroy(http: Http, request: FastifyRequest, id: string): Promise<void> {
  const row = await lookUp(http, request.caller, id);
  if (!row) throw extractionNotFound();
  const data = { extraction_id: row.id };
  await http
    .send(DeleteExtraction, { ...envelope(request, row.id), data, mustFollow: true })
    .catch((error: unknown) => {
      throw error instanceof ApiError && error.status === 404 ? extractionNotFound() : error;
    });
}

/** The extraction API (spec), below /api/v1. */
export function extractionRoutes(app: App, http: Http): void {
  app.addHook("onRequest", requireProduct(http, "extraction"));
  const described = { tags: ["Extraction"], security: [{ key: [] }] };
  const one = { ...described, params: z.object({ id: z.string() }) };

  const asking = {
    ...described,
    summary: "Turn a file into Markdown",
    consumes: ["multipart/form-data"],
    body: UploadForm,
    response: { 200: Extraction.describe("The earlier result for identical bytes."), 202: Extraction },
  };
  app.post(
    "/extractions",
    {
      bodyLimit: MAX_FILE_BYTES + OVERHEAD_BYTES,
      onRequest: requireForm,
      schema: asking,
      // the form is no parsed body: readUpload checks its parts
      validatorCompiler: () => (value) => ({ value }),
    },
    async (request, reply) => {
      const { status, extraction } = await extract(http, request);
      return reply.code(status).send(present(extraction));
    },
  );

  const reading = { ...one, summary: "An extraction and its Markdown", response: { 200: Extraction } };
  app.get("/extractions/:id", { schema: reading }, async ({ caller, params }) => {
    const row = await lookUp(http, caller, params.id);
    if (!row) throw extractionNotFound();
    return present(await withMarkdown(http, row));
  });

  const deleting = { ...one, summary: "Delete an extraction, its file and its text", response: { 204: z.null() } };
  app.delete("/extractions/:id", { schema: deleting }, async (request, reply) => {
    await destroy(http, request, request.params.id);
    return reply.code(204).send(null);
  });
}
