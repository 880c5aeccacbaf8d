import { Agent, request } from "undici";
import { currentTrace } from "#events/spans.ts";
import { formatTraceparent } from "#events/trace.ts";
import type { Credential } from "#services/turns/model.ts";
import { guardedFetch } from "../web/guardedFetch.ts";

export interface OutgoingRequest {
  method: string;
  headers: Record<string, string>;
  body: string | Buffer<ArrayBuffer> | undefined;
  signal: AbortSignal;
}

export interface IncomingResponse {
  status: number;
  headers: Headers;
  chunks: AsyncIterator<Uint8Array>;
  /** Closes the connection of a response that was not read completely. */
  cancel(): void;
}

/** Sends one request. Throws the network's errors. */
export type RequestSender = (url: string, outgoing: OutgoingRequest) => Promise<IncomingResponse>;

/** Maximum connections per provider address; each running turn holds one. HTTP/2 would put a hundred turns on one connection. */
const MAX_CONNECTIONS = 512;

const toHeaders = (fields: Record<string, string | string[] | undefined>): Headers =>
  new Headers(
    Object.entries(fields).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)] as [string, string]],
    ),
  );

/**
 * Calls undici directly, without its fetch and Response: 0.28 instead of 0.48 ms of CPU for a buffered answer at 32
 * connections, 0.42 instead of 0.65 ms for one streamed in 12 chunks. Redirects are not followed.
 */
const plainSender = (): RequestSender => {
  const dispatcher = new Agent({ connections: MAX_CONNECTIONS, headersTimeout: 0, bodyTimeout: 0, allowH2: false });
  return async (url, outgoing) => {
    const { statusCode, headers, body } = await request(url, { ...outgoing, dispatcher });
    return {
      status: statusCode,
      // nobody reads those of a stream
      get headers() {
        return toHeaders(headers);
      },
      chunks: body[Symbol.asyncIterator](),
      cancel: () => body.destroy(),
    };
  };
};

const guardedSender = (privateHosts: string[]): RequestSender => {
  const fetch = guardedFetch({ privateHosts });
  return async (url, outgoing) => {
    const { status, headers, body } = await fetch(url, outgoing);
    const reader = (body ?? new Blob().stream()).getReader();
    const chunks = { next: () => reader.read() as Promise<IteratorResult<Uint8Array>> };
    return { status, headers, chunks, cancel: () => void reader.cancel().catch(() => undefined) };
  };
};

/** Adds the `traceparent` of the current trace, but not its `tracestate`, which may hold data of other vendors. */
const tracedSender =
  (send: RequestSender): RequestSender =>
  (url, outgoing) => {
    const trace = currentTrace();
    if (!trace) return send(url, outgoing);
    return send(url, { ...outgoing, headers: { ...outgoing.headers, traceparent: formatTraceparent(trace) } });
  };

/** Chooses how to send requests with a credential: through the guard if a tenant named the address. All users share the connections. */
export function openTransport({ privateHosts }: { privateHosts: string[] }): (credential: Credential) => RequestSender {
  const guarded = tracedSender(guardedSender(privateHosts));
  const plain = tracedSender(plainSender());
  return (credential) => (credential.guarded ? guarded : plain);
}
