import { createHash } from "node:crypto";
import { deriveId } from "#events/ids.ts";

/** Methods that change something get an idempotency key, because another attempt may repeat the request. */
const CHANGING_METHODS = new Set(["POST", "PUT", "PATCH", "DELETE"]);

interface StepRequest {
  url: string;
  method: string;
  headers: [string, string][];
  body: string | null;
}

/**
 * Adds an Idempotency-Key to an attempt's writes that set none. A write is identified by its content (method, address, body) and
 * its number among equal writes, so that all attempts at the step send the same key, and no other write does.
 */
export function createWriteKeys(idempotency_key: string): (request: StepRequest) => void {
  const counts = new Map<string, number>();
  return ({ url, method, headers, body }) => {
    const verb = method.toUpperCase();
    if (!CHANGING_METHODS.has(verb)) return;
    const content = createHash("sha256")
      .update(JSON.stringify([verb, url, body]))
      .digest("base64url");
    const nth = counts.get(content) ?? 0;
    counts.set(content, nth + 1);
    if (headers.some(([name]) => name.toLowerCase() === "idempotency-key")) return;
    headers.push(["Idempotency-Key", deriveId("write of a step", idempotency_key, content, String(nth))]);
  };
}
