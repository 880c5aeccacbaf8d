import type { FastifyRequest } from "fastify";
import { z } from "zod";
import type { Http } from "../../base/deps.ts";
import { ApiError } from "../../base/errors.ts";
import { hashInSteps } from "../../base/hashInSteps.ts";
import { type IdempotentRequest } from "../../base/idempotency.ts";
import { describeFile } from "../../upload/readUpload.ts";
import { PushTextBody } from "../documentShape.ts";
import type { UploadAnswer } from "../existingDocument.ts";
import { checkReaders } from "../documentAccess.ts";
import { answerRepeated, storeFile } from "../uploadDocument.ts";

/** Maximum URLs per request, and the time limit for all of them together. */
export const MAX_LINKS = 20;
export const LINKS_MS = 60_000;
const MAX_URL_LENGTH = 2_048;

/** A file on the web that becomes a document. */
export const Link = z.object(
  {
    url: z
      .url({ protocol: /^https?$/, error: "must be an http or https address" })
      .max(MAX_URL_LENGTH, `must have ${MAX_URL_LENGTH} characters at most`)
      .describe("A public address. Its file of at most 10 MiB is uploaded as it is now."),
    name: PushTextBody.shape.name.describe("Default: the last part of the address."),
    tags: PushTextBody.shape.tags,
    metadata: PushTextBody.shape.metadata,
    readers: PushTextBody.shape.readers,
  },
  "must be an object with a url",
);
export type Link = z.infer<typeof Link>;

export const isLink = (sent: unknown): boolean => typeof sent === "object" && sent !== null && "url" in sent;

interface Place {
  collection_id: string;
  identity: IdempotentRequest;
  signal: AbortSignal;
}

/** Fetches a file and stores it. */
export async function storeLink(
  http: Http,
  request: FastifyRequest,
  { collection_id, identity, signal }: Place,
  { url, name, tags, metadata, readers }: Link,
): Promise<UploadAnswer> {
  const repeated = await answerRepeated(http, request, identity);
  if (repeated) return repeated;
  await checkReaders(http, request.caller.organization_id, readers);
  const found = await http.fetchFile(url, signal);
  if ("refusal" in found) throw new ApiError("link_failed", found.refusal, { param: "url" });
  request.countBytes(found.bytes.length);
  try {
    const sha256 = await hashInSteps(found.bytes);
    const file = await describeFile({ ...found, sha256 }, { pictures: http.settings.OCR });
    const details = { tags: tags ?? [], metadata: metadata ?? undefined, readers };
    return await storeFile(http, request, { ...file, name: name ?? file.name, ...details, collection_id, identity });
  } finally {
    request.countBytes(-found.bytes.length);
  }
}
