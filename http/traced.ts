import type { FastifyReply, FastifyRequest } from "fastify";
import { openSpan, withTrace, type OpenSpan } from "#events/spans.ts";
import { newTrace, traceFrom, type Trace, type Traced } from "#events/trace.ts";
import type { App } from "./app.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** The trace that it belongs to: its client's, where that named one. Undefined before it came to a route. */
    trace: Trace | undefined;
  }
}

/** Asked every few seconds by whoever watches: no traces of anybody's work. */
const WATCHED = new Set(["/healthz", "/readyz", "/metrics"]);

/** Its names are those of OpenTelemetry's conventions. What the client wrote into the address is left out: it can be anything. */
function spanOf({ method, routeOptions }: FastifyRequest, asked: Trace | undefined): OpenSpan | undefined {
  const route = routeOptions.url;
  if (route !== undefined && WATCHED.has(route)) return undefined;
  const attributes = { "http.request.method": method, ...(route !== undefined && { "http.route": route }) };
  return openSpan(route === undefined ? method : `${method} ${route}`, { kind: "server", attributes }, asked);
}

function end(span: OpenSpan, { raw }: FastifyReply): void {
  if (!raw.writableFinished) return span.end("client_left");
  span.set({ "http.response.status_code": raw.statusCode });
  span.end(raw.statusCode >= 500 ? String(raw.statusCode) : undefined);
}

/** Every request is handled as part of a trace, and with what it leads to that goes on: commands, events, calls of providers. */
export function traceRequests(app: App): void {
  app.decorateRequest("trace", undefined);
  app.addHook("onRequest", (request, reply, done) => {
    const asked = traceFrom(request.headers as Traced);
    const span = spanOf(request, asked);
    request.trace = span?.trace ?? asked ?? newTrace();
    if (span) reply.raw.once("close", () => end(span, reply));
    withTrace(request.trace, done);
  });
  // a body arrives by the socket's events, which belong to no request
  app.addHook("preValidation", (request, _reply, done) => withTrace(request.trace, done));
}
