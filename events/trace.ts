import { randomUUID } from "node:crypto";

/** A position in a trace (W3C Trace Context, level 1): `span_id` is the parent of the next span. */
export interface Trace {
  /** 32 hex digits, not all zeros. */
  trace_id: string;
  /** 16 hex digits, not all zeros. */
  span_id: string;
  /** Whether the system that started the trace records it. */
  sampled: boolean;
  /** The `tracestate` header, passed on unchanged for other tracing systems. */
  state?: string;
}

/** The W3C trace headers, under their standard names in HTTP requests, commands and messages. */
export interface TraceHeaders {
  traceparent?: string;
  tracestate?: string;
}

const PARENT = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const SAMPLED = 1;

/** Maximum characters of a `tracestate`: what the W3C requires us to pass on. Every command carries it, so longer ones are dropped. */
const MAX_STATE_LENGTH = 512;
const MAX_STATE_MEMBERS = 32;
const MEMBER = /^[a-z0-9][a-z0-9_\-*/@]{0,255}=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;

/** Undefined if it is too long or malformed: a bad `tracestate` is dropped as a whole, and the trace continues without it. */
function parseState(tracestate: unknown): string | undefined {
  if (typeof tracestate !== "string" || tracestate.length > MAX_STATE_LENGTH) return undefined;
  const members = tracestate
    .split(",")
    .map((member) => member.trim())
    .filter(Boolean);
  const keys = new Set(members.map((member) => member.split("=", 1)[0]));
  const isValid =
    keys.size === members.length && members.length <= MAX_STATE_MEMBERS && members.every((m) => MEMBER.test(m));
  return isValid && members.length > 0 ? members.join(",") : undefined;
}

/** The trace that these headers name; undefined if they are missing or malformed, and then the caller starts a new trace. */
export function parseTraceHeaders({
  traceparent,
  tracestate,
}: { [Name in keyof TraceHeaders]?: unknown }): Trace | undefined {
  const [, version, trace_id, span_id, flags, more] =
    (typeof traceparent === "string" && PARENT.exec(traceparent)) || ([] as undefined[]);
  // later versions may add fields; version 00 has exactly these
  if (!trace_id || !span_id || (version === "00" && more !== undefined)) return undefined;
  const state = parseState(tracestate);
  const sampled = (Number.parseInt(flags!, 16) & SAMPLED) === SAMPLED;
  return { trace_id, span_id, sampled, ...(state !== undefined && { state }) };
}

export const formatTraceparent = ({ trace_id, span_id, sampled }: Trace): string =>
  `00-${trace_id}-${span_id}-${sampled ? "01" : "00"}`;

/** Empty for no trace. */
export const toTraceHeaders = (trace: Trace | undefined): TraceHeaders =>
  trace ? { traceparent: formatTraceparent(trace), ...(trace.state !== undefined && { tracestate: trace.state }) } : {};

/** The trace id in a `traceparent` that this service has formatted; null for none. */
export const parseTraceId = (traceparent: string | undefined): string | null => traceparent?.split("-")[1] ?? null;

/** A new trace that is not sampled. The low half of a v4 UUID is never all zeros (variant bits), as a span id requires. */
export const newTrace = (): Trace => ({
  trace_id: randomUUID().replaceAll("-", ""),
  span_id: randomUUID().replaceAll("-", "").slice(16),
  sampled: false,
});
