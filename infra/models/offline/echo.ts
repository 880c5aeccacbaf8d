import type { Model, ModelRequest } from "#services/turns/model.ts";
import { filesOf, lastUserParts, textOf, type FilePart } from "./conversation.ts";
import { minimalValue } from "./minimalValue.ts";
import { speak } from "./speak.ts";

const describe = ({ filename, mime_type, bytes }: FilePart): string =>
  `[${filename}, ${mime_type}, ${bytes.length} bytes]`;

/** The JSON that a request wants instead of prose, if it does. */
export function wantedJson({ response_format }: ModelRequest): string | undefined {
  if (response_format.type === "text") return undefined;
  return JSON.stringify(response_format.type === "json_object" ? {} : minimalValue(response_format.json_schema.schema));
}

/** offline/echo: repeats what the user said last and names what came with it. */
export const echo: Model = {
  complete(request) {
    const parts = lastUserParts(request);
    const repeated = [textOf(parts), ...filesOf(parts).map(describe)].filter((line) => line !== "").join("\n");
    return speak(request, { text: wantedJson(request) ?? repeated });
  },
};
