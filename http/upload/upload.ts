import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { ApiError } from "../errors.ts";
import { cleanFilename } from "../filename.ts";
import { nameOfType } from "../mediaType.ts";
import { detectType } from "./detect.ts";
import { readForm, type FormRules, type SentFile } from "./form.ts";
import { tagsOf } from "./tags.ts";

/** What is to be read: a file or pushed text, with its type and a name to show. */
export interface Upload extends Pick<SentFile, "bytes" | "sha256"> {
  name: string;
  mime_type: string;
  tags: string[];
}

const hasName = ({ filename }: { filename?: string }) => filename !== undefined && filename !== "";
const RULES: FormRules = { counts: hasName, keeps: hasName, unreadable: "invalid_body", tooMany: "too_many_files" };

/** The form of an upload, for the description: the parts are read as they come. */
export const UploadForm = z.object({
  file: z.string().meta({ format: "binary" }).describe("The part with a filename, whatever its own name."),
});

/**
 * Reads the file of an upload (spec: Knowledge API, Extraction API). Throws 400 `invalid_body`, `missing_file`,
 * `too_many_files`, `empty_document`, 413 `file_too_large`, 415 `unsupported_file_type`.
 */
export async function readUpload(request: FastifyRequest): Promise<Upload> {
  const { file, fields } = await readForm(request, RULES);
  if (!file) throw new ApiError("missing_file", "The form needs a part with a filename.", { param: "file" });
  const { bytes, sha256 } = file;
  if (bytes.length === 0) throw new ApiError("empty_document", "The file has no content.", { param: "file" });
  const tags = tagsOf(fields);
  const mime_type = await detectType(file);
  return { name: cleanFilename(file.filename) || nameOfType(mime_type), mime_type, tags, bytes, sha256 };
}

/** Hook for routes that take a form: anything else is refused before it is read. */
export const requireForm = async (request: FastifyRequest): Promise<void> => {
  if (!/^multipart\/form-data(;|$)/i.test(request.headers["content-type"]?.trim() ?? ""))
    throw new ApiError("invalid_body", "The body must be multipart/form-data.");
};
