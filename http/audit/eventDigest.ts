import { createHash } from "node:crypto";
import type { AuditEvent } from "./eventShape.ts";

/**
 * SHA-256 (hex) of an event as its organization sees it, over the JSON of a list. Personal fields are included in their stored
 * form, so deleting them does not change the hash. `console/api/proof.ts` computes the same in a browser.
 */
export function digestEvent(event: AuditEvent): string {
  const { stream, version, type, recorded_at, principal, request_id, trace_id, command_id, data, sealed_hash } = event;
  const fields = [stream, version, type, recorded_at, principal, request_id, trace_id, command_id, data, sealed_hash];
  return createHash("sha256").update(JSON.stringify(fields)).digest("hex");
}
