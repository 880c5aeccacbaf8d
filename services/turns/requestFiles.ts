import { sizeOfFiles, type SentSize } from "#events/requestSize.ts";
import type { ModelRequest } from "./model.ts";

/** The files of a request, while their bytes are in memory. */
export const filesOfRequest = ({ messages }: Pick<ModelRequest, "messages">): SentSize =>
  sizeOfFiles(
    messages.flatMap(({ parts }) =>
      parts.flatMap((part) => (part.type === "file" ? [{ mime_type: part.mime_type, bytes: part.bytes.length }] : [])),
    ),
  );
