import { readFileAttachment, readImageAttachment, type AttachmentSource } from "../turns/attachment.ts";
import type { Part } from "./schema.ts";

/** Reads an `input_file` or `input_image` part; undefined for other parts. Throws the spec's attachment codes. */
export function readAttachment(part: Part, at: string): AttachmentSource | undefined {
  if (part.type === "input_file") return readFileAttachment(part, at);
  if (part.type !== "input_image") return undefined;
  return typeof part.file_id === "string"
    ? readFileAttachment({ file_id: part.file_id }, at)
    : readImageAttachment(part.image_url, `${at}.image_url`);
}
