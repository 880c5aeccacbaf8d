import type { SentFile } from "#events/requestSize.ts";
import type { ModelRequest } from "./model.ts";

/** Types and sizes of a request's files, while their bytes are in memory. */
export function filesOfRequest({ messages }: Pick<ModelRequest, "messages">): SentFile[] {
  const files: SentFile[] = [];
  for (const { parts } of messages)
    for (const part of parts)
      if (part.type === "file") files.push({ mime_type: part.mime_type, bytes: part.bytes.length });
  return files;
}
