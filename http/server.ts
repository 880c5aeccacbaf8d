import fastifyMultipart from "@fastify/multipart";
import fastify, {
  LogController,
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyReply,
  type FastifyRequest,
} from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import type { App } from "./app.ts";
import { agentApiRoutes } from "./agents/routes.ts";
import { createLastUsed } from "./auth/lastUsed.ts";
import { accountRoutes } from "./account/routes.ts";
import { auditRoutes } from "./audit/routes.ts";
import { readBodies } from "./bodies.ts";
import { createBudget } from "./budget.ts";
import { chatRoutes } from "./chat/routes.ts";
import type { Http, HttpDeps } from "./deps.ts";
import { ApiError, errorBody, errorHeaders } from "./errors.ts";
import { extractionRoutes } from "./extractions/routes.ts";
import { describeApi } from "./face/openapi.ts";
import { createMetrics } from "./face/metrics.ts";
import { faceRoutes } from "./face/routes.ts";
import { toApiError } from "./failures.ts";
import { observe } from "./observe.ts";
import { answerBadRequest, answerExpectation } from "./parserErrors.ts";
import { knowledgeRoutes } from "./knowledge/routes.ts";
import { createProviders } from "./providers.ts";
import { requestId } from "./requestId.ts";
import { createFreshRead, createSend } from "./send.ts";
import { validator } from "./validate.ts";
import { workflowDefinitionRoutes } from "./workflows/definitions.ts";
import { workflowRoutes } from "./workflows/routes.ts";

const MIB = 1024 * 1024;
const REQUEST_MS = 120_000;
const HEADERS_MS = 10_000;

/** Fastify with our limits and no default of its own showing. */
function bareServer(logger: FastifyBaseLogger, trustProxy: string[]): App {
  const app = fastify({
    loggerInstance: logger,
    // one line per request is written below; a child logger for each would cost more than it says
    logController: new LogController({ disableRequestLogging: true }),
    childLoggerFactory: (parent) => parent,
    genReqId: requestId,
    requestIdHeader: false,
    trustProxy: trustProxy.length > 0 && trustProxy,
    bodyLimit: MIB,
    requestTimeout: REQUEST_MS,
    // node would answer a missing Host in a shape of its own; the hook below does it in ours
    http: { headersTimeout: HEADERS_MS, connectionsCheckingInterval: 5_000, requireHostHeader: false },
    clientErrorHandler: answerBadRequest,
    frameworkErrors: (error, request, reply) => void sendError(error, request, reply),
    routerOptions: { maxParamLength: 500 },
    forceCloseConnections: "idle",
  }).withTypeProvider<ZodTypeProvider>();
  app.setValidatorCompiler(validator());
  // response schemas are for the description; what we build is ours to trust
  app.setSerializerCompiler(() => JSON.stringify);
  return app;
}

function sendError(error: FastifyError | Error, request: FastifyRequest, reply: FastifyReply) {
  const known = toApiError(error);
  // what breaks while a body arrives, or before there is a route, runs in no trace
  const about = { err: known.cause, request_id: request.id, trace_id: request.trace?.trace_id };
  if (known.status === 500) request.log.error(about, "request failed");
  else if (known.status > 500) request.log.warn({ reason: known.message, ...about }, "request failed");
  if (known.status === 413) reply.header("connection", "close");
  return reply
    .code(known.status)
    .headers({ ...errorHeaders(known), "x-request-id": request.id })
    .send(errorBody(known, request.url.startsWith("/api/v1/")));
}

/** Answers under way get this long when the process ends; then their clients have to ask again. */
const CLOSING_MS = 10_000;

/** For telling those whose answer is a stream. */
const TELLING_MS = 1_000;

/** Gives the signal for answers under way to end. */
function endConnections(app: App): AbortSignal {
  const closing = new AbortController();
  app.addHook("preClose", (done) => {
    setTimeout(() => closing.abort(), CLOSING_MS).unref();
    setTimeout(() => app.server.closeAllConnections(), CLOSING_MS + TELLING_MS).unref();
    done();
  });
  return closing.signal;
}

/**
 * The public face, not yet listening. Closing it writes down what is left of the lazy writes.
 * Every answer other than success has the spec's error shape, the framework's and the parser's own included.
 */
export async function buildServer(deps: HttpDeps) {
  const app = bareServer(deps.logger, deps.settings.TRUST_PROXY);
  const lastUsed = createLastUsed(deps.db, deps.logger);
  const budget = createBudget();
  const http: Http = {
    ...deps,
    letGo: budget.letGo,
    closing: endConnections(app),
    send: createSend(deps),
    freshRead: createFreshRead(deps),
    providers: createProviders(deps.db),
    metrics: createMetrics(deps.registry),
    used: lastUsed.used,
  };
  app.addHook("onClose", () => lastUsed.close());
  app.decorateRequest("caller", null as never);
  app.setErrorHandler<Error>(sendError);
  app.setNotFoundHandler((request, reply) =>
    sendError(
      new ApiError("not_found", `There is nothing at ${request.method} ${request.url.split("?")[0]}.`),
      request,
      reply,
    ),
  );
  readBodies(app);
  observe(app, http, budget);
  app.server.on("checkExpectation", answerExpectation);
  await app.register(fastifyMultipart, { throwFileSizeLimit: true });
  await describeApi(app, deps.settings);
  await app.register(async (scope) => faceRoutes(scope as unknown as App, http));
  const api = (routes: (app: App, http: Http) => void) => async (scope: unknown) => {
    const room = scope as App;
    room.addHook("onRequest", () => http.regained());
    routes(room, http);
  };
  await app.register(api(chatRoutes), { prefix: "/api/openai/v1" });
  await app.register(api(agentApiRoutes), { prefix: "/api/agents/:agent_id/v1" });
  await app.register(api(accountRoutes), { prefix: "/api" });
  await app.register(api(auditRoutes), { prefix: "/api" });
  await app.register(api(knowledgeRoutes), { prefix: "/api/v1/knowledge" });
  await app.register(api(extractionRoutes), { prefix: "/api/v1" });
  await app.register(api(workflowRoutes), { prefix: "/api/workflows" });
  await app.register(api(workflowDefinitionRoutes), { prefix: "/api" });
  return app;
}
