import { createHash } from "node:crypto";

/**
 * The id of a call as the provider accepts it. Another provider, or the caller in a conversation of its own, may have given one that
 * it refuses; the same id always becomes the same other one.
 */
export const fitCallId = (id: string, accepted: RegExp): string =>
  accepted.test(id) ? id : `call_${createHash("sha256").update(id).digest("hex").slice(0, 32)}`;
