import { canonicalType, MEDIA_TYPES } from "#events/mediaTypes.ts";
import type { ReadingRequest } from "./messages.ts";

/** Files that a process reads before it is replaced, because libraries leak memory. */
export const MAX_FILES_PER_PROCESS = 50;
/** Types whose short texts no library parses. Starting a process takes as long as reading a hundred of them. */
const PLAIN = new Set<string>((["md", "txt", "csv", "tsv", "json"] as const).map((name) => MEDIA_TYPES[name]));
const SHORT_BYTES = 100_000;
const SHORT_TEXT_SHARE = 1 / 20;

/** How many files a request counts as: 1, or a part of one for a short plain text. */
export const countAsFiles = (request: ReadingRequest): number => {
  const isPlain = request.kind === "cut" || (request.kind === "read" && PLAIN.has(canonicalType(request.mime_type)));
  return isPlain && request.bytes <= SHORT_BYTES ? SHORT_TEXT_SHARE : 1;
};
