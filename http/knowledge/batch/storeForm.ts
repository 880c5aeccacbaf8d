import type { MultipartFile } from "@fastify/multipart";
import type { FastifyRequest } from "fastify";
import type { Http } from "../../base/deps.ts";
import { ApiError } from "../../base/errors.ts";
import { identifyPost, nextCommand } from "../../base/idempotency.ts";
import { UnreadableArchive, unpackArchive } from "../../upload/archive/unpackArchive.ts";
import {
  discardBody,
  MAX_FILE_BYTES,
  convertFormErrors,
  readContent,
  type Field,
  type SentFile,
} from "../../upload/multipartForm.ts";
import { describeFile, readDetails } from "../../upload/readUpload.ts";
import { checkReaders } from "../documentAccess.ts";
import { requireCollection } from "../lookups.ts";
import { describeUpload, storeFile } from "../uploadDocument.ts";
import { createResults, type Results } from "./batchResults.ts";
import { MAX_ENTRIES, MAX_FORM_BYTES, type BatchResult } from "./batchShape.ts";

export const BATCH_PATH = "/api/v1/knowledge/documents/batch";

const LIMITS = {
  fileSize: MAX_FILE_BYTES,
  fields: 100,
  parts: MAX_ENTRIES + 110,
  fieldSize: 64 * 1024,
  fieldNameSize: 200,
  headerPairs: 50,
};

/** A file that is too large fails as one entry, not as the whole form. */
const READING = { limits: LIMITS, throwFileSizeLimit: false };

type Target = Awaited<ReturnType<typeof readTarget>>;

/** Reads the collection and the common fields of a form. */
async function readTarget(http: Http, request: FastifyRequest, fields: Field[]) {
  const sent = fields.filter(({ name }) => name === "collection").map(({ value }) => value);
  const [reference] = sent;
  if (sent.length !== 1 || typeof reference !== "string")
    throw new ApiError(null, "collection: must be one field with a slug or an id, before the files.", {
      param: "collection",
    });
  const { id } = await requireCollection(http, request.caller, reference);
  const details = readDetails(fields);
  await checkReaders(http, request.caller.organization_id, details.readers);
  return { collection_id: id, details };
}

interface FormBatch {
  http: Http;
  request: FastifyRequest;
  target: Target;
  results: Results;
}

async function store({ http, request, target, results }: FormBatch, sent: SentFile) {
  const file = { ...(await describeFile(sent, { pictures: http.settings.OCR })), ...target.details };
  const { collection_id } = target;
  const more = [collection_id, ...describeUpload(file)];
  const whole = identifyPost(request, BATCH_PATH, { body: file.sha256, more });
  const identity = nextCommand(whole, `entry ${results.next()}`);
  return storeFile(http, request, { ...file, collection_id, identity });
}

const nameOf = (results: Results, name: string) => ({ name, param: `entries[${results.next()}]` });

async function storePart(batch: FormBatch, part: MultipartFile): Promise<void> {
  const { request, results } = batch;
  const { filename, mimetype } = part;
  let held = 0;
  try {
    const content = await readContent(part, request);
    held = content.bytes.length;
    await results.add(nameOf(results, filename), () => store(batch, { filename, mimetype, ...content }));
  } catch (error) {
    if (!(error instanceof ApiError) || error.errorCode !== "file_too_large") throw error;
    results.fail(nameOf(results, filename), error);
  } finally {
    request.countBytes(-held);
  }
}

const tooMany = () =>
  new ApiError("too_many_files", `A request may have ${MAX_ENTRIES} files; send the others in another one.`);

/** Stores the files of an archive. Returns whether the rest of the form can be read. */
async function storeArchive(batch: FormBatch, part: MultipartFile): Promise<boolean> {
  const { request, results } = batch;
  try {
    for await (const entry of unpackArchive(part.file, (bytes) => request.countBytes(bytes))) {
      const named = nameOf(results, entry.name);
      if (results.next() === MAX_ENTRIES) return (results.stop(named, tooMany()), false);
      if ("error" in entry) results.fail(named, entry.error);
      else await results.add(named, () => store(batch, entry.file));
    }
  } catch (error) {
    if (!(error instanceof UnreadableArchive)) throw error;
    results.stop(nameOf(results, part.filename), error);
    return false;
  }
  if (!part.file.truncated) return true;
  results.stop(nameOf(results, part.filename), new ApiError("file_too_large", "The archive is larger than 100 MB."));
  return false;
}

/** Stores a part. Returns whether the form can continue. */
async function storeNext(batch: FormBatch, part: MultipartFile): Promise<boolean> {
  const { results } = batch;
  if (part.fieldname === "archive") return storeArchive(batch, part);
  if (results.next() === MAX_ENTRIES) {
    results.stop(nameOf(results, part.filename), tooMany());
    return false;
  }
  await storePart(batch, part);
  return true;
}

async function storeParts(http: Http, request: FastifyRequest, results: Results): Promise<void> {
  const fields: Field[] = [];
  let batch: FormBatch | undefined;
  let bytes = 0;
  for await (const part of request.parts(READING)) {
    if (part.type === "field") {
      const { fieldname: name, value, valueTruncated: truncated } = part;
      if (batch) throw new ApiError("invalid_body", `${name}: must come before the files.`, { param: name });
      fields.push({ name, value, truncated });
      continue;
    }
    batch ??= { http, request, results, target: await readTarget(http, request, fields) };
    if (!(await storeNext(batch, part))) return discardBody(request);
    bytes += part.file.bytesRead ?? 0;
    if (bytes > MAX_FORM_BYTES) {
      results.stop(
        nameOf(results, part.filename),
        new ApiError("request_too_large", "The files have more than 500 MB together; send them in several requests."),
      );
      return discardBody(request);
    }
  }
  if (!batch) throw new ApiError("missing_file", "The form needs a part with a filename.", { param: "file" });
}

/** Stores the files of a form in sequence as they arrive. */
export async function storeForm(http: Http, request: FastifyRequest): Promise<BatchResult> {
  const results = createResults();
  await convertFormErrors(request, { unreadableCode: "invalid_body" }, () => storeParts(http, request, results));
  return results.done();
}
