import type { FastifyReply, FastifyRequest } from "fastify";
import { openSpan, withTrace, type OpenSpan } from "#events/spans.ts";
import { newTrace, parseTraceHeaders, type Trace, type TraceHeaders } from "#events/trace.ts";
import type { App } from "./app.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** The trace of the request, which continues the client's if it sent one. Undefined until the request reaches a route. */
    trace: Trace | undefined;
  }
}

/** Polled every few seconds by monitoring, so they get no spans. */
const MONITORING_ROUTES = new Set(["/healthz", "/readyz", "/metrics"]);

/** Names follow OpenTelemetry's conventions. The path is left out, because it may contain anything a client typed. */
function openRequestSpan({ method, routeOptions }: FastifyRequest, parent: Trace | undefined): OpenSpan | undefined {
  const route = routeOptions.url;
  if (route !== undefined && MONITORING_ROUTES.has(route)) return undefined;
  const attributes = { "http.request.method": method, ...(route !== undefined && { "http.route": route }) };
  return openSpan(route === undefined ? method : `${method} ${route}`, { kind: "server", attributes }, parent);
}

function endSpan(span: OpenSpan, { raw }: FastifyReply): void {
  if (!raw.writableFinished) return span.end("client_left");
  span.set({ "http.response.status_code": raw.statusCode });
  span.end(raw.statusCode >= 500 ? String(raw.statusCode) : undefined);
}

/** Handles every request as part of a trace. Its commands, events and provider calls continue the trace. */
export function traceRequests(app: App): void {
  app.decorateRequest("trace", undefined);
  app.addHook("onRequest", (request, reply, done) => {
    const parent = parseTraceHeaders(request.headers as TraceHeaders);
    const span = openRequestSpan(request, parent);
    request.trace = span?.trace ?? parent ?? newTrace();
    if (span) reply.raw.once("close", () => endSpan(span, reply));
    withTrace(request.trace, done);
  });
  // body events come from the socket, outside the async context of the request
  app.addHook("preValidation", (request, _reply, done) => withTrace(request.trace, done));
}
