import type { FastifyRequest } from "fastify";
import { z } from "zod";
import type { App } from "../../base/app.ts";
import { createCounter } from "../../base/counter.ts";
import type { Http } from "../../base/deps.ts";
import { ApiError } from "../../base/errors.ts";
import { identifyPost, nextCommand } from "../../base/idempotency.ts";
import { validator } from "../../base/validate.ts";
import { MAX_PUSH_BYTES, refusePush } from "../collectionDocuments.ts";
import { checkReaders } from "../documentAccess.ts";
import { PushTextBody, PUSH_CODES } from "../documentShape.ts";
import type { UploadAnswer } from "../existingDocument.ts";
import { requireCollection } from "../lookups.ts";
import { pushText } from "../pushText.ts";
import { createResults } from "./batchResults.ts";
import { BatchBody, BatchResult, JsonBatch } from "./batchShape.ts";
import { BATCH_PATH, storeForm } from "./storeForm.ts";
import { isLink, Link, LINKS_MS, MAX_LINKS, storeLink } from "./storeLink.ts";

/** Requests of one organization that a process handles at a time. */
const MAX_AT_ONCE = 2;
const RETRY_MS = 2_000;

type Parse<T> = (sent: unknown) => { value: T } | { error: ApiError };
const parsePush = validator(PUSH_CODES)({ schema: PushTextBody } as never) as Parse<z.infer<typeof PushTextBody>>;
const parseLink = validator()({ schema: Link } as never) as Parse<Link>;

type Details = Pick<z.infer<typeof PushTextBody>, "tags" | "metadata" | "readers">;

/** Reads an entry and applies the common fields. Throws a 400. */
function readEntry<T extends Details>(parse: Parse<T>, common: JsonBatch, sent: unknown): T {
  const parsed = parse(sent);
  if ("error" in parsed) throw parsed.error;
  const { tags, metadata, readers } = parsed.value;
  return {
    ...parsed.value,
    tags: tags ?? common.tags,
    metadata: metadata ?? common.metadata,
    readers: readers === undefined ? common.readers : readers,
  };
}

async function storeTexts(http: Http, request: FastifyRequest, body: JsonBatch): Promise<BatchResult> {
  const { organization_id } = request.caller;
  const { id: collection_id } = await requireCollection(http, request.caller, body.collection);
  await checkReaders(http, organization_id, body.readers);
  if (body.documents.filter(isLink).length > MAX_LINKS)
    throw new ApiError(
      null,
      `documents: must have at most ${MAX_LINKS} addresses; send the others in another request.`,
      { param: "documents" },
    );
  const whole = identifyPost(request, BATCH_PATH);
  const signal = AbortSignal.any([AbortSignal.timeout(LINKS_MS), http.closing]);
  const store = async (sent: unknown, n: number): Promise<UploadAnswer> => {
    const place = { collection_id, identity: nextCommand(whole, `entry ${n}`) };
    const link = isLink(sent) ? readEntry(parseLink, body, sent) : undefined;
    const text = link ? undefined : readEntry(parsePush, body, sent);
    return link ? storeLink(http, request, { ...place, signal }, link) : pushText(http, request, place, text!);
  };
  const results = createResults();
  for (const [n, sent] of body.documents.entries())
    await results.add({ name: nameOf(sent, n), param: `documents[${n}]` }, () => store(sent, n));
  return results.done();
}

/** The name of an entry in messages: its name, its URL, or its index. */
function nameOf(sent: unknown, n: number): string {
  const { name, url } = (sent ?? {}) as { name?: unknown; url?: unknown };
  const called = [name, url].find((one) => typeof one === "string" && one !== "") as string | undefined;
  return called?.slice(0, 255) ?? `documents[${n}]`;
}

const wrongBody = () => new ApiError("invalid_body", "The body must be JSON or multipart/form-data.");

/** Refuses other content types before the body is read. */
async function requireJsonOrForm({ headers }: FastifyRequest): Promise<void> {
  const type = headers["content-type"]?.trim() ?? "";
  if (type !== "" && !/^(application\/json|multipart\/form-data)\s*(;|$)/i.test(type)) throw wrongBody();
}

/** Uploads and pushes many documents in one request. */
export function batchRoute(app: App, http: Http): void {
  const running = createCounter();
  const schema = {
    tags: ["Knowledge"],
    security: [{ key: [] }],
    summary: "Upload or push many documents",
    description:
      "Send texts and addresses as JSON, or a form with several files or one ZIP archive. Entries are stored one after the other, and each has a result of its own. Repeat an interrupted request with the same `Idempotency-Key`: what was stored is not stored again.",
    consumes: ["application/json", "multipart/form-data"],
    body: BatchBody,
    response: { 200: BatchResult },
  };
  app.post(
    "/documents/batch",
    {
      bodyLimit: MAX_PUSH_BYTES,
      onRequest: requireJsonOrForm,
      errorHandler: refusePush,
      schema,
      // a form is not parsed yet: its parts are checked as they arrive
      validatorCompiler: (part) =>
        part.httpPart === "body" ? validator()({ ...part, schema: JsonBatch.nullish() } as never) : validator()(part),
    },
    async (request) => {
      const { organization_id } = request.caller;
      if (running.count(organization_id) >= MAX_AT_ONCE)
        throw new ApiError("rate_limited", `An organization may send ${MAX_AT_ONCE} batches at a time.`, {
          retryAfterMs: RETRY_MS,
        });
      running.add(organization_id, 1);
      try {
        if (request.isMultipart()) return await storeForm(http, request);
        if (!request.body) throw wrongBody();
        return await storeTexts(http, request, request.body as unknown as JsonBatch);
      } finally {
        running.add(organization_id, -1);
      }
    },
  );
}
