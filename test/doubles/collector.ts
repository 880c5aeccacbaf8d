import { sendJson, startLoopback } from "./loopback.ts";

/** A span as a collector received it. */
export interface ToldSpan {
  name: string;
  trace_id: string;
  span_id: string;
  /** Empty for the first of a trace. */
  parent: string;
  /** 1 internal, 2 server, 3 client, 5 consumer. */
  kind: number;
  attributes: Record<string, unknown>;
  /** Of the process that it was in. */
  resource: Record<string, unknown>;
  /** 2: it failed. */
  status: number;
  state: string | undefined;
}

const valueOf = (value: any): unknown =>
  value.arrayValue ? (value.arrayValue.values ?? []).map(valueOf) : Object.values(value)[0];
const fieldsOf = (attributes: { key: string; value: unknown }[] = []): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, valueOf(value)]));

const spansIn = (body: any): ToldSpan[] =>
  body.resourceSpans.flatMap(({ resource, scopeSpans }: any) =>
    scopeSpans.flatMap(({ spans }: any) =>
      spans.map((span: any) => ({
        name: span.name,
        trace_id: span.traceId,
        span_id: span.spanId,
        parent: span.parentSpanId ?? "",
        kind: span.kind,
        attributes: fieldsOf(span.attributes),
        resource: fieldsOf(resource.attributes),
        status: span.status?.code ?? 0,
        state: span.traceState,
      })),
    ),
  );

/** A collector of spans that speaks OTLP over HTTP with JSON; `status` is what it answers. */
export async function startCollector() {
  let answers = 200;
  const { origin, requests, close } = await startLoopback((_request, response) => sendJson(response, answers, {}));
  const spans = () => requests.filter(({ path }) => path === "/v1/traces").flatMap(({ body }) => spansIn(body));
  return {
    url: origin,
    requests,
    spans,
    of: (trace_id: string) => spans().filter((span) => span.trace_id === trace_id),
    answer: (status: number) => void (answers = status),
    close,
  };
}
export type Collector = Awaited<ReturnType<typeof startCollector>>;
