import type { SentFile } from "#events/requestSize.ts";
import type { ModelRequest } from "./model.ts";

/** Types and sizes of a request's files, while their bytes are in memory. */
export const filesOfRequest = ({ messages }: Pick<ModelRequest, "messages">): SentFile[] =>
  messages.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.type === "file" ? [{ mime_type: part.mime_type, bytes: part.bytes.length }] : [])),
  );
