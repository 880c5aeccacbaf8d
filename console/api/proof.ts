import { call } from "./call.ts";
import type { LogEvent } from "./events.ts";
import type { Slice } from "./types.ts";

/* The hashes of an organization's own events, computed in this browser from what the log shows. */

/** Events of one request. */
const PER_PAGE = 500;

/** Undefined on plain http, except on this machine: browsers offer no hashes there, whatever the type says. */
const subtle = globalThis.crypto.subtle as SubtleCrypto | undefined;
export const CAN_HASH = subtle !== undefined;

const toHex = (bytes: ArrayBuffer): string =>
  Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");

async function sha256(text: string): Promise<string> {
  if (!subtle) throw new Error("This browser computes hashes on https only.");
  return toHex(await subtle.digest("SHA-256", new TextEncoder().encode(text)));
}

/** As `GET /api/events/check` describes a digest. */
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

/** How far the browser is. */
export interface Proof {
  /** SHA-256 (hex) of the hash before and the digest of the last event; empty before the first. */
  hash: string;
  /** The last event that it covers. */
  last: LogEvent | undefined;
  /** The first event that is shown otherwise than the log has it. */
  differs: LogEvent | undefined;
}
export const NOTHING_PROVED: Proof = { hash: "", last: undefined, differs: undefined };

/** Computes the hashes of the events that follow, and compares each with what the service found in the log. */
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
