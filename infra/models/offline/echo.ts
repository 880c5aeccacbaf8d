import type { Model, ModelRequest } from "#services/turns/model.ts";
import { filesOf, lastUserParts, joinTexts, type FilePart } from "./conversation.ts";
import { minimalValue } from "./minimalValue.ts";
import { streamAnswer } from "./streamAnswer.ts";

const describe = ({ filename, mime_type, bytes }: FilePart): string =>
  `[${filename}, ${mime_type}, ${bytes.length} bytes]`;

/** JSON, if the request asks for it instead of prose; otherwise undefined. */
export function requestedJson({ response_format }: ModelRequest): string | undefined {
  if (response_format.type === "text") return undefined;
  return JSON.stringify(response_format.type === "json_object" ? {} : minimalValue(response_format.json_schema.schema));
}

/** offline/echo: repeats the last user message and names its attachments. */
export const echo: Model = {
  complete(request) {
    const parts = lastUserParts(request);
    const repeated = [joinTexts(parts), ...filesOf(parts).map(describe)].filter((line) => line !== "").join("\n");
    return streamAnswer(request, { text: requestedJson(request) ?? repeated });
  },
};
