import { randomUUID } from "node:crypto";

/** A place in a trace (W3C Trace Context, level 1): what happens next has this span as its parent. */
export interface Trace {
  /** 32 hex digits, not all 0. */
  trace_id: string;
  /** 16 hex digits, not all 0. */
  span_id: string;
  /** Somebody before us records this trace. */
  sampled: boolean;
  /** `tracestate`: what tracing systems of others carry along. */
  state?: string;
}

/** A trace as it travels: the W3C's headers by their names, in HTTP requests, commands and messages. */
export interface Traced {
  traceparent?: string;
  tracestate?: string;
}

const PARENT = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const SAMPLED = 1;

/** What has to be carried at least; longer ones need not be, and of a client's 16 KB every command would carry all. */
const MOST_STATE = 512;
const MOST_MEMBERS = 32;
const MEMBER = /^[a-z0-9][a-z0-9_\-*/@]{0,255}=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;

/** Undefined where it is too long or malformed: a bad `tracestate` is dropped as a whole, and the trace goes on. */
function stateFrom(tracestate: unknown): string | undefined {
  if (typeof tracestate !== "string" || tracestate.length > MOST_STATE) return undefined;
  const members = tracestate
    .split(",")
    .map((member) => member.trim())
    .filter(Boolean);
  const keys = new Set(members.map((member) => member.split("=", 1)[0]));
  const fits = keys.size === members.length && members.length <= MOST_MEMBERS && members.every((m) => MEMBER.test(m));
  return fits && members.length > 0 ? members.join(",") : undefined;
}

/** The trace that these headers name; undefined where they name none or are malformed: then a new one begins. */
export function traceFrom({ traceparent, tracestate }: { [Name in keyof Traced]?: unknown }): Trace | undefined {
  const [, version, trace_id, span_id, flags, more] =
    (typeof traceparent === "string" && PARENT.exec(traceparent)) || ([] as undefined[]);
  // versions to come may have more fields, the first one has these
  if (!trace_id || !span_id || (version === "00" && more !== undefined)) return undefined;
  const state = stateFrom(tracestate);
  const sampled = (Number.parseInt(flags!, 16) & SAMPLED) === SAMPLED;
  return { trace_id, span_id, sampled, ...(state !== undefined && { state }) };
}

export const traceparentOf = ({ trace_id, span_id, sampled }: Trace): string =>
  `00-${trace_id}-${span_id}-${sampled ? "01" : "00"}`;

/** Headers that name a trace; none for none. */
export const tracedBy = (trace: Trace | undefined): Traced =>
  trace ? { traceparent: traceparentOf(trace), ...(trace.state !== undefined && { tracestate: trace.state }) } : {};

/** The trace's id in a `traceparent` of our own; null for none. */
export const traceIdOf = (traceparent: string | undefined): string | null => traceparent?.split("-")[1] ?? null;

/** A trace that begins here and that nobody records. Of a random UUID the last half has no zero at its beginning. */
export const newTrace = (): Trace => ({
  trace_id: randomUUID().replaceAll("-", ""),
  span_id: randomUUID().replaceAll("-", "").slice(16),
  sampled: false,
});
