import { createHash, timingSafeEqual } from "node:crypto";
import { ApiError } from "../base/errors.ts";

/** The stored form of an API key, session token or webhook secret. A plain SHA-256 suffices, because each has 256 random bits. */
export const hashToken = (token: string): string => createHash("sha256").update(token).digest("hex");

/** Whether a token has this stored form. Compares in constant time, so that the comparison reveals nothing about the hash. */
export function matchesHash(token: string, stored: string): boolean {
  const hash = hashToken(token);
  return hash.length === stored.length && timingSafeEqual(Buffer.from(hash), Buffer.from(stored));
}

export const BEARER = /^bearer +(\S+) *$/i;

/**
 * The bearer token of a request. Reads the raw headers, because Node silently drops a second Authorization header.
 * Throws 401 `missing_api_key` without one, 401 `invalid_api_key` for several or for another scheme.
 */
export function readBearerToken(rawHeaders: readonly string[]): string {
  let header: string | undefined;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]!.toLowerCase() !== "authorization") continue;
    if (header !== undefined) throw new ApiError("invalid_api_key", "Send exactly one Authorization header.");
    header = rawHeaders[at + 1]!;
  }
  if (header === undefined || header.trim() === "")
    throw new ApiError("missing_api_key", "Send an API key: Authorization: Bearer <key>.");
  const token = BEARER.exec(header)?.[1];
  if (!token) throw new ApiError("invalid_api_key", "The Authorization header must read: Bearer <key>.");
  return token;
}
