import type { FastifyReply, FastifyRequest } from "fastify";
import type { App } from "./app.ts";
import type { HttpDeps } from "./deps.ts";

/** The routes of API keys. Those of the console, such as signing in, are for pages of this service alone. */
const SHARED_PATH = /^\/api\/(?:openai\/v1|agents\/[^/]+\/v1|v1|workflows)(?:\/|\?|$)/;
const METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE";
/** Header names of any client, as many as fit into a preflight of an SDK several times. */
const HEADER_NAMES = /^[\w\-, ]{1,2000}$/;
/** As long as Chromium keeps the answer of a preflight; Firefox would keep it for a day. */
const MAX_AGE_SECONDS = "7200";

type Settings = Pick<HttpDeps["settings"], "CORS_ORIGINS">;

const isPreflight = ({ method, headers }: FastifyRequest): boolean =>
  method === "OPTIONS" && headers.origin !== undefined && headers["access-control-request-method"] !== undefined;

/**
 * Lets the browser show an answer to the page of another origin. Never `access-control-allow-credentials`: a page of another origin
 * must have a key, and a browser's cookie gives it nothing (docs/adr/0099-pages-of-other-origins-bring-a-key.md).
 */
export function shareAnswer({ CORS_ORIGINS }: Settings, request: FastifyRequest, reply: FastifyReply): boolean {
  if (CORS_ORIGINS.length === 0 || !SHARED_PATH.test(request.url)) return false;
  const { origin } = request.headers;
  const isForAll = CORS_ORIGINS.includes("*");
  // also without an origin: a cache must not keep that answer for a page
  if (!isForAll) reply.header("vary", "Origin");
  if (origin === undefined || !(isForAll || CORS_ORIGINS.includes(origin))) return false;
  reply.header("access-control-allow-origin", isForAll ? "*" : origin);
  // without credentials, all headers; SDKs read x-request-id, retry-after, x-should-retry and x-ratelimit-…
  reply.header("access-control-expose-headers", "*");
  return true;
}

/** For the developer who looks up why the browser does not send a request. */
export const hintForPreflight = (request: FastifyRequest): string =>
  isPreflight(request) && SHARED_PATH.test(request.url)
    ? ` Pages of ${request.headers.origin!.slice(0, 200)} may call this API once the operator names that origin in CORS_ORIGINS.`
    : "";

/**
 * Answers pages of other origins (CORS_ORIGINS) and their preflights, which browsers send without a credential: before
 * authentication, a look-up and a place among the requests.
 */
export function shareAcrossOrigins(app: App, settings: Settings): void {
  if (settings.CORS_ORIGINS.length === 0) return;
  app.addHook("onRequest", (request, reply, done) => {
    const isShared = shareAnswer(settings, request, reply);
    if (!isShared || !isPreflight(request)) return done();
    const wanted = request.headers["access-control-request-headers"];
    reply.header("access-control-allow-methods", METHODS).header("access-control-max-age", MAX_AGE_SECONDS);
    if (typeof wanted === "string" && HEADER_NAMES.test(wanted)) reply.header("access-control-allow-headers", wanted);
    void reply.code(204).send();
  });
}
