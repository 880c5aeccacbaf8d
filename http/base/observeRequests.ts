import { Readable, Transform } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { App } from "./app.ts";
import type { BodyBudget } from "./bodyBudget.ts";
import type { Http } from "./deps.ts";
import type { Caller } from "./caller.ts";
import { ApiError } from "./errors.ts";
import { encodeInPieces, measureJson } from "#events/largeJson.ts";
import { createLongReads, type LongReads } from "./longReads.ts";
import { reserveAnswerBytes, limitIdleTime, MAX_UNCOUNTED_BYTES } from "./sendFile.ts";
import { MIN_BYTES, RATE_INTERVAL_MS } from "./slowBodies.ts";
import { trackRequestTime } from "./requestTime.ts";
import { traceRequests } from "./traceRequests.ts";

declare module "fastify" {
  interface FastifyRequest {
    /**
     * Counts bytes of the request's body or answer that this process keeps; a negative number releases them. Throws if the
     * organization's share, or the total, is used up.
     */
    countBytes(bytes: number): void;
    /** Waits until the organization has few long answers in progress. Throws if the client leaves before. */
    acquireLongRead(): Promise<void>;
  }
}

const TOO_SLOW = "The request body arrives too slowly.";
/** The status that nginx logs for a client that disconnected before its answer. */
const CLIENT_CLOSED_REQUEST = 499;

function logRequest({ metrics }: Pick<Http, "metrics">, request: FastifyRequest, reply: FastifyReply): void {
  const { method, id, trace } = request;
  const route = request.routeOptions.url ?? "none";
  const status = reply.raw.writableFinished ? reply.raw.statusCode : CLIENT_CLOSED_REQUEST;
  const ms = Math.round(reply.elapsedTime * 10) / 10;
  metrics.request(method, route, status, ms / 1000);
  request.log.info({ request_id: id, trace_id: trace?.trace_id, method, route, status, ms }, "request");
}

const isCounted = ({ headers }: FastifyRequest): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > MAX_UNCOUNTED_BYTES;

/** Counts a body while it is read. The rest of a refused body is drained, so that the answer reaches the client. */
function countedBody(request: FastifyRequest, body: Readable): Readable {
  let arrived = 0;
  const counter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      arrived += chunk.length;
      try {
        request.countBytes(chunk.length);
        done(null, chunk);
      } catch (error) {
        done(error as Error);
      }
    },
  });
  // starts with the first read, because forms are read from the request itself, and are counted there
  counter.once("resume", () => {
    const watch = setInterval(() => {
      if (arrived < MIN_BYTES && !body.readableEnded) counter.destroy(new ApiError("request_timeout", TOO_SLOW));
      arrived = 0;
    }, RATE_INTERVAL_MS);
    counter.once("close", () => clearInterval(watch));
    body.pipe(counter);
  });
  counter.once("error", () => body.resume());
  body.once("error", (error) => counter.destroy(error));
  return counter;
}

/** Whether a large answer may be refused: only authenticated reads. The result of a write is always sent. */
const isRead = ({ method, caller }: FastifyRequest): boolean =>
  method === "GET" && (caller as Caller | undefined) !== undefined;

/**
 * Writes large answers in slices. Those of reads count until their clients have read them, because they stay in memory: JSON while
 * it is written, files before they are read.
 */
function countAnswers(app: App, longReads: LongReads): void {
  const written = new WeakMap<FastifyRequest, Buffer[]>();
  app.addHook("preSerialization", async (request, reply, payload) => {
    if (request.method === "HEAD" || measureJson(payload, MAX_UNCOUNTED_BYTES) <= MAX_UNCOUNTED_BYTES) return payload;
    const isCounted = isRead(request);
    if (isCounted) await request.acquireLongRead();
    const pieces = await encodeInPieces(payload, (bytes) => {
      if (isCounted) request.countBytes(bytes);
    });
    written.set(request, pieces);
    reply.header(
      "content-length",
      pieces.reduce((sum, { length }) => sum + length, 0),
    );
    // `onSend` sends the pieces
    reply.serializer(() => "");
    if (isCounted) limitIdleTime(reply);
    return payload;
  });
  app.addHook("onSend", (request, reply, payload, done) => {
    longReads.end(request);
    const pieces = written.get(request);
    written.delete(request);
    // writing 9 MB at once, as a text or after joining them, blocked the event loop for 25 to 40 ms
    if (pieces) return done(null, Readable.from(pieces));
    const bytes = typeof payload === "string" || Buffer.isBuffer(payload) ? payload.length : 0;
    const isCounted = reply.hasHeader("content-disposition");
    try {
      if (bytes > MAX_UNCOUNTED_BYTES && isRead(request) && !isCounted) reserveAnswerBytes(request, reply, bytes);
    } catch (error) {
      return done(error as Error);
    }
    done(null, payload);
  });
}

/** Number of Host headers. Node uses the first one, and a proxy in front may have used another. */
function countHosts(rawHeaders: readonly string[]): number {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]!.length === 4 && rawHeaders[at]!.toLowerCase() === "host") hosts++;
  return hosts;
}

/** Gives each request a trace and a budget for its body. Logs and counts the request once its response is closed. */
export function observeRequests(app: App, http: Pick<Http, "metrics" | "longReadPlaces">, budget: BodyBudget): void {
  const longReads = createLongReads(http.longReadPlaces);
  app.decorateRequest("acquireLongRead", function () {
    return longReads.begin(this);
  });
  app.decorateRequest("countBytes", function (bytes: number) {
    budget.countArrived(this, bytes);
  });
  traceRequests(app);
  trackRequestTime(app);
  app.addHook("onRequest", (request, reply, done) => {
    reply.header("x-request-id", request.id);
    request.addHeaders = (headers) => void reply.headers(headers);
    reply.raw.once("close", () => {
      budget.release(request);
      longReads.end(request);
      logRequest(http, request, reply);
    });
    const hosts = countHosts(request.raw.rawHeaders);
    if (hosts === 1 || (hosts === 0 && request.raw.httpVersion !== "1.1")) return done();
    reply.header("connection", "close");
    done(new ApiError(null, hosts === 0 ? "The request has no Host header." : "The request has several Host headers."));
  });
  countAnswers(app, longReads);
  app.addHook("preParsing", (request, _reply, body, done) => {
    done(null, isCounted(request) ? countedBody(request, body as Readable) : body);
  });
}
