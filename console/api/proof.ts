import { call } from "./call.ts";
import type { LogEvent } from "./events.ts";
import type { Slice } from "./types.ts";

/* Computes the hashes of an organization's own events in this browser, from the events that the log shows. */

/** Events of one request. */
const PER_PAGE = 500;

/** Undefined on plain http, except on this machine, because browsers offer no hashes there. The declared type does not show that. */
const subtle = globalThis.crypto.subtle as SubtleCrypto | undefined;
export const CAN_HASH = subtle !== undefined;

const toHex = (bytes: ArrayBuffer): string =>
  Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");

async function sha256(text: string): Promise<string> {
  if (!subtle) throw new Error("This browser computes hashes on https only.");
  return toHex(await subtle.digest("SHA-256", new TextEncoder().encode(text)));
}

/** Computes a digest as `GET /api/events/check` describes it. */
function digestEvent(event: LogEvent): Promise<string> {
  const { stream, version, type, recorded_at, principal, request_id, trace_id, command_id, data, sealed_hash } = event;
  return sha256(
    JSON.stringify([
      stream,
      version,
      type,
      recorded_at,
      principal,
      request_id,
      trace_id,
      command_id,
      data,
      sealed_hash,
    ]),
  );
}

/** The events after a cursor, oldest first, as the log shows them. */
async function readEvents(after: string | null, count: number, signal: AbortSignal): Promise<LogEvent[]> {
  const events: LogEvent[] = [];
  for (let next = after ?? undefined, more = true; more && events.length < count; ) {
    const query = { after: next, limit: Math.min(PER_PAGE, count - events.length) };
    const page = await call<Slice<LogEvent>>("events", { signal, query });
    events.push(...page.data);
    next = page.next_after ?? undefined;
    more = page.has_more;
  }
  return events;
}

/** The progress of the browser's check. */
export interface Proof {
  /** SHA-256 (hex) of the hash before and the digest of the last event; empty before the first. */
  hash: string;
  /** The last event that the hash covers. */
  last: LogEvent | undefined;
  /** The first event that differs from the log. */
  differs: LogEvent | undefined;
}
export const EMPTY_PROOF: Proof = { hash: "", last: undefined, differs: undefined };

/** Computes the hashes of the next events, and compares each with the service's result. */
export async function proveEvents(
  proof: Proof,
  after: string | null,
  digests: readonly string[],
  signal: AbortSignal,
): Promise<Proof> {
  const events = await readEvents(after, digests.length, signal);
  const computed = await Promise.all(events.map(digestEvent));
  let { hash, last } = proof;
  for (const [n, digest] of digests.entries()) {
    const event = events[n];
    if (!event || computed[n] !== digest) return { hash, last, differs: event ?? events.at(-1) ?? last };
    hash = await sha256(hash + digest);
    last = event;
  }
  return { hash, last, differs: undefined };
}
