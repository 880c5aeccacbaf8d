import fastifyMultipart from "@fastify/multipart";
import fastify, { LogController, type FastifyError, type FastifyReply, type FastifyRequest } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { admitInTurns } from "./base/admitRequests.ts";
import { createLastUseRecorder } from "./auth/lastUseRecorder.ts";
import { createAliases } from "./base/aliases.ts";
import type { App } from "./base/app.ts";
import { MIB } from "#events/units.ts";
import { createBodyBudget } from "./base/bodyBudget.ts";
import { hintForPreflight, shareAcrossOrigins, shareAnswer } from "./base/crossOrigin.ts";
import type { Http, HttpDeps } from "./base/deps.ts";
import { ApiError, errorBody, errorHeaders } from "./base/errors.ts";
import { limitPipelining } from "./base/limitPipelining.ts";
import { lingerOnClose } from "./base/lingeringClose.ts";
import { createMetrics, measureLogLimits } from "./base/metrics.ts";
import { observeRequests } from "./base/observeRequests.ts";
import { readBodies } from "./base/parseBodies.ts";
import { followReadings } from "./base/readingProgress.ts";
import { answerBadRequest, answerExpectation } from "./base/parserErrors.ts";
import { createProviders } from "./base/providers.ts";
import { refuseOverLogLimit } from "./base/refuseOverLogLimit.ts";
import { refuseWhileClosing } from "./base/refuseWhileClosing.ts";
import { requestId } from "./base/requestId.ts";
import { refuseWithoutSpace } from "./base/requireSpace.ts";
import { createWaitUntilCurrent, createSend } from "./base/send.ts";
import { shareBriefly } from "./base/shareBriefly.ts";
import { createStreamLimits } from "./base/streamLimits.ts";
import { normalizeUrl } from "./base/normalizeUrl.ts";
import { toApiError } from "./base/toApiError.ts";
import { MAX_REQUEST_MS, refuseSlowBodies } from "./base/slowBodies.ts";
import { compilers } from "./base/validate.ts";
import { hintForPath } from "./base/misplacedPaths.ts";
import { registerRoutes } from "./routes.ts";

const HEADERS_MS = 10_000;
/** Node's default limit of a request's address and headers together. So no part of a path is longer. */
const MAX_HEAD_BYTES = 16 * 1024;

/** Creates a Fastify server with our limits, and without Fastify's own error bodies and log lines. */
function bareServer({ logger, settings }: Pick<HttpDeps, "logger" | "settings">): App {
  const app = fastify({
    loggerInstance: logger,
    // `observeRequests` logs one line per request; a child logger per request would be expensive
    logController: new LogController({ disableRequestLogging: true }),
    childLoggerFactory: (parent) => parent,
    genReqId: requestId,
    requestIdHeader: false,
    rewriteUrl: ({ url = "" }) => normalizeUrl(url),
    trustProxy: settings.TRUST_PROXY.length > 0 && settings.TRUST_PROXY,
    bodyLimit: MIB,
    requestTimeout: MAX_REQUEST_MS,
    // `observeRequests` refuses a missing Host with our error body instead
    http: { headersTimeout: HEADERS_MS, connectionsCheckingInterval: 5_000, requireHostHeader: false },
    clientErrorHandler: answerBadRequest,
    // handles errors that occur before any hook runs
    frameworkErrors(error, request, reply) {
      shareAnswer(settings, request, reply);
      void sendError(error, request, reply);
    },
    // requests do not limit `user`, which the path of a budget may name
    routerOptions: { maxParamLength: MAX_HEAD_BYTES },
    schemaController: { compilersFactory: compilers },
    forceCloseConnections: "idle",
    // `refuseWhileClosing` answers with our error body and Retry-After instead
    return503OnClosing: false,
  }).withTypeProvider<ZodTypeProvider>();
  limitPipelining(app.server);
  refuseSlowBodies(app.server);
  return app;
}

function sendError(error: FastifyError | Error, request: FastifyRequest, reply: FastifyReply) {
  const answer = toApiError(error);
  // errors before routing, or while the body arrives, happen outside the trace
  const fields = { err: answer.cause, request_id: request.id, trace_id: request.trace?.trace_id };
  if (answer.status === 500) request.log.error(fields, "request failed");
  else if (answer.status > 500) request.log.warn({ reason: answer.message, ...fields }, "request failed");
  if (answer.status === 413 || answer.status === 408) {
    reply.header("connection", "close");
    lingerOnClose(request);
  }
  return reply
    .code(answer.status)
    .headers({ ...answer.headers, ...errorHeaders(answer), "x-request-id": request.id })
    .send(errorBody(answer, request.url.startsWith("/api/v1/")));
}

function notFound({ BASE_URL }: HttpDeps["settings"], request: FastifyRequest): ApiError {
  const path = request.url.split("?")[0];
  const hint = hintForPreflight(request) || hintForPath(path, BASE_URL);
  return new ApiError("not_found", `There is nothing at ${request.method} ${path}.${hint}`);
}

/** Time for open requests to complete during a shutdown. */
const CLOSING_MS = 10_000;

/** Additional time for streams to send their last event. */
const LAST_EVENT_MS = 1_000;

/** A signal that aborts when open requests must end because the process shuts down. */
function createClosingSignal(app: App): AbortSignal {
  const closing = new AbortController();
  app.addHook("preClose", (done) => {
    setTimeout(() => closing.abort(), CLOSING_MS).unref();
    setTimeout(() => app.server.closeAllConnections(), CLOSING_MS + LAST_EVENT_MS).unref();
    done();
  });
  return closing.signal;
}

/**
 * Builds the HTTP server, which does not listen yet. Every error has the spec's shape, including those of Fastify and of its
 * parser. Closing the server saves last-used times that are still in memory.
 */
export async function buildServer(deps: HttpDeps) {
  const app = bareServer(deps);
  const lastUseRecorder = createLastUseRecorder(deps.lastUses, deps.logger);
  const budget = createBodyBudget();
  const http: Http = {
    ...deps,
    health: shareBriefly(deps.health),
    releaseBody: budget.release,
    closing: createClosingSignal(app),
    send: createSend(deps),
    waitUntilCurrent: createWaitUntilCurrent(deps),
    providers: createProviders(deps.db),
    aliases: createAliases(deps.db, deps.settings.REGION),
    metrics: createMetrics(deps.registry),
    streams: createStreamLimits(),
    readingProgress: followReadings(deps.onRead),
    noteUse: lastUseRecorder.noteUse,
  };
  deps.onHealed(http.metrics.healed);
  measureLogLimits(deps.registry, deps.logLimits);
  app.addHook("onClose", () => lastUseRecorder.close());
  app.decorateRequest("caller", null as never);
  app.decorateRequest("recheckCredential", undefined);
  app.decorateRequest("addHeaders", () => {});
  app.setErrorHandler<Error>(sendError);
  readBodies(app);
  observeRequests(app, http, budget);
  shareAcrossOrigins(app, deps.settings);
  refuseWhileClosing(app);
  // refuses unknown paths before their bodies are read: strangers may send any number of such requests
  app.addHook("onRequest", (request, _reply, done) => {
    done(request.is404 ? notFound(deps.settings, request) : undefined);
  });
  admitInTurns(app, http);
  refuseWithoutSpace(app, http);
  refuseOverLogLimit(app, http);
  app.server.on("checkExpectation", answerExpectation);
  await app.register(fastifyMultipart, { throwFileSizeLimit: true });
  await registerRoutes(app, http);
  return app;
}
