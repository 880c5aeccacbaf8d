import { Transform, type Readable } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Budget } from "./budget.ts";
import type { Http } from "./deps.ts";
import { ApiError } from "./errors.ts";
import type { App } from "./app.ts";
import { traceRequests } from "./traced.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Counts bytes of the body that are held now. Throws Unavailable when there is no room for what was not announced. */
    holds(bytes: number): void;
  }
}

/** What nginx writes down for a client that left before its answer. */
const LEFT = 499;

function ended({ metrics }: Pick<Http, "metrics">, request: FastifyRequest, reply: FastifyReply): void {
  const { method, id, trace } = request;
  const route = request.routeOptions.url ?? "none";
  const status = reply.raw.writableFinished ? reply.raw.statusCode : LEFT;
  const ms = Math.round(reply.elapsedTime * 10) / 10;
  metrics.request(method, route, status, ms / 1000);
  request.log.info({ request_id: id, trace_id: trace?.trace_id, method, route, status, ms }, "request");
}

/** A body of untold length counts as it is read. What is left of one that is refused is read over, so that the answer can arrive. */
function counted(request: FastifyRequest, body: Readable): Readable {
  const counting = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      try {
        request.holds(chunk.length);
        done(null, chunk);
      } catch (error) {
        done(error as Error);
      }
    },
  });
  // not before it is read: a form is read from the request itself, and counts there
  counting.once("resume", () => body.pipe(counting));
  counting.once("error", () => body.resume());
  body.once("error", (error) => counting.destroy(error));
  return counting;
}

/** One trace, one line and one count per request, these when its connection is done with it; the budget of its body likewise. */
export function observe(app: App, http: Pick<Http, "metrics">, budget: Budget): void {
  app.decorateRequest("holds", function (bytes: number) {
    budget.arrived(this, bytes);
  });
  traceRequests(app);
  app.addHook("onRequest", (request, reply, done) => {
    reply.header("x-request-id", request.id);
    reply.raw.once("close", () => {
      budget.letGo(request);
      ended(http, request, reply);
    });
    budget.hold(request);
    if (request.headers.host !== undefined || request.raw.httpVersion !== "1.1") return done();
    reply.header("connection", "close");
    done(new ApiError(null, "The request has no Host header."));
  });
  app.addHook("preParsing", (request, _reply, body, done) => {
    done(null, request.headers["transfer-encoding"] ? counted(request, body as Readable) : body);
  });
}
