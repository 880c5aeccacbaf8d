import {
  createTraceState,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace as api,
  TraceFlags,
  type Context,
  type Span,
  type Tracer,
} from "@opentelemetry/api";
import type { SpanOptions, SpanRecorder } from "#events/spans.ts";
import type { Trace } from "#events/trace.ts";

type Kind = NonNullable<SpanOptions["kind"]>;
const KINDS: Record<Kind, SpanKind> = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  consumer: SpanKind.CONSUMER,
};
/** The parent of these spans is in another process. */
const REMOTE_PARENT: ReadonlySet<Kind> = new Set(["server", "consumer"]);

const contextFor = ({ trace_id, span_id, sampled, state }: Trace, kind: Kind): Context =>
  api.setSpanContext(ROOT_CONTEXT, {
    traceId: trace_id,
    spanId: span_id,
    traceFlags: sampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
    isRemote: REMOTE_PARENT.has(kind),
    ...(state !== undefined && { traceState: createTraceState(state) }),
  });

function traceFrom(span: Span): Trace {
  const { traceId, spanId, traceFlags, traceState } = span.spanContext();
  const state = traceState?.serialize();
  return {
    trace_id: traceId,
    span_id: spanId,
    sampled: (traceFlags & TraceFlags.SAMPLED) !== 0,
    ...(state && { state }),
  };
}

/** Records spans with an OpenTelemetry tracer. Parents come from our own traces, not from OpenTelemetry's context. */
export const createRecorder =
  (tracer: Tracer): SpanRecorder =>
  (name, { kind = "internal", attributes = {} }, parent) => {
    const context = parent ? contextFor(parent, kind) : ROOT_CONTEXT;
    const span = tracer.startSpan(name, { kind: KINDS[kind], attributes }, context);
    return {
      trace: traceFrom(span),
      set: (more) => void span.setAttributes(more),
      end(failure) {
        if (failure !== undefined) span.setAttribute("error.type", failure).setStatus({ code: SpanStatusCode.ERROR });
        span.end();
      },
    };
  };
