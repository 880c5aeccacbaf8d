import { canonicalType, MEDIA_TYPES } from "#events/mediaTypes.ts";
import type { Request } from "./messages.ts";

/** Files that a process reads before it is replaced, because libraries leak memory. */
export const MAX_WEAR = 50;
/** Types whose short texts no library parses. Starting a process takes as long as reading a hundred of them. */
const PLAIN = new Set<string>((["md", "txt", "csv", "tsv", "json"] as const).map((name) => MEDIA_TYPES[name]));
const SHORT_BYTES = 100_000;
const SHORT_WEAR = 1 / 20;

/** The wear that a request adds to a process: 1 for a file. */
export const wearOf = (request: Request): number => {
  const isPlain = request.kind === "cut" || (request.kind === "read" && PLAIN.has(canonicalType(request.mime_type)));
  return isPlain && request.bytes <= SHORT_BYTES ? SHORT_WEAR : 1;
};
