import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { ApiError } from "../base/errors.ts";
import { cleanFilename } from "../base/filename.ts";
import { defaultFilename } from "../base/mediaType.ts";
import { detectType } from "./detectType.ts";
import { readForm, type Field, type FormRules, type SentFile } from "./multipartForm.ts";
import type { MetadataInput } from "#events/documentInput.ts";
import { readMetadata } from "./metadata.ts";
import { readReaders, type Readers } from "./readers.ts";
import { readTags } from "./tags.ts";

/** A file or pushed text, with its type and its display name. */
export interface Upload extends Pick<SentFile, "bytes" | "sha256"> {
  name: string;
  mime_type: string;
  tags: string[];
  /** Undefined if none was sent. */
  metadata: MetadataInput | undefined;
  readers: Readers | undefined;
}

const hasName = ({ filename }: { filename?: string }) => filename !== undefined && filename !== "";
/** The fields that `readDetails` reads. */
const DETAILS: ReadonlySet<string> = new Set(["tags", "metadata", "readers"]);
const RULES: FormRules = {
  fields: DETAILS,
  isFile: hasName,
  isWanted: hasName,
  unreadableCode: "invalid_body",
  tooManyCode: "too_many_files",
};

/** The upload form, for the API description only. */
export const UploadForm = z.object({
  file: z.string().meta({ format: "binary" }).describe("The part with a filename, whatever its field name."),
});

/**
 * Reads the file of an upload (spec: Knowledge API, Extraction API). `pictures`: whether text in pictures is recognized. Throws
 * 400 `invalid_body`, `missing_file`, `too_many_files`, `empty_document`, 413 `file_too_large`, 415 `unsupported_file_type`.
 */
export async function readUpload(
  request: FastifyRequest,
  { pictures, fields = DETAILS }: { pictures: boolean } & Partial<Pick<FormRules, "fields">>,
): Promise<Upload> {
  const form = await readForm(request, { ...RULES, fields });
  const { file } = form;
  if (!file) throw new ApiError("missing_file", "The form needs a part with a filename.", { param: "file" });
  if (file.bytes.length === 0) throw emptyFile();
  const details = readDetails(form.fields);
  return { ...(await describeFile(file, { pictures })), ...details };
}

const emptyFile = () => new ApiError("empty_document", "The file has no content.", { param: "file" });

/** The details that a form gives for its files. */
export const readDetails = (fields: Field[]): Pick<Upload, "tags" | "metadata" | "readers"> => ({
  tags: readTags(fields),
  metadata: readMetadata(fields),
  readers: readReaders(fields),
});

/** Determines the type and display name of a file. Throws 400 `empty_document` and 415 `unsupported_file_type`. */
export async function describeFile(
  file: SentFile,
  { pictures }: { pictures: boolean },
): Promise<Pick<Upload, "name" | "mime_type" | "bytes" | "sha256">> {
  const { bytes, sha256 } = file;
  if (bytes.length === 0) throw emptyFile();
  const mime_type = await detectType(file, { pictures });
  return { name: cleanFilename(file.filename) || defaultFilename(mime_type), mime_type, bytes, sha256 };
}
