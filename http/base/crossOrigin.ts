import type { FastifyReply, FastifyRequest } from "fastify";
import type { App } from "./app.ts";
import type { HttpDeps } from "./deps.ts";

/** The paths that API keys may call. Other paths, such as signing in, serve pages of this service only. */
const SHARED_PATH = /^\/api\/(?:openai\/v1|agents\/[^/]+\/v1|v1|workflows)(?:\/|\?|$)/;
const METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE";
/** Header names that any client may send. The length allows several times those of an SDK's preflight. */
const HEADER_NAMES = /^[\w\-, ]{1,2000}$/;
/** The longest time for which Chromium caches a preflight; Firefox would allow a day. */
const MAX_AGE_SECONDS = "7200";

type Settings = Pick<HttpDeps["settings"], "CORS_ORIGINS">;

const isPreflight = ({ method, headers }: FastifyRequest): boolean =>
  method === "OPTIONS" && headers.origin !== undefined && headers["access-control-request-method"] !== undefined;

/**
 * Adds the headers with which the browser lets a page of another origin read the answer. It never sends
 * `access-control-allow-credentials`: such a page must have a key, and a cookie gives it no access
 * (docs/adr/0099-pages-of-other-origins-bring-a-key.md).
 */
export function shareAnswer({ CORS_ORIGINS }: Settings, request: FastifyRequest, reply: FastifyReply): boolean {
  if (CORS_ORIGINS.length === 0 || !SHARED_PATH.test(request.url)) return false;
  const { origin } = request.headers;
  const isForAll = CORS_ORIGINS.includes("*");
  // also without an origin, because a cache must not return that answer to a page
  if (!isForAll) reply.header("vary", "Origin");
  if (origin === undefined || !(isForAll || CORS_ORIGINS.includes(origin))) return false;
  reply.header("access-control-allow-origin", isForAll ? "*" : origin);
  // `*` covers all headers, as no credentials are allowed; SDKs read x-request-id, retry-after, x-should-retry and x-ratelimit-…
  reply.header("access-control-expose-headers", "*");
  return true;
}

/** Tells a developer why the browser does not send a request. */
export const hintForPreflight = (request: FastifyRequest): string =>
  isPreflight(request) && SHARED_PATH.test(request.url)
    ? ` Pages of ${request.headers.origin!.slice(0, 200)} may call this API once the operator names that origin in CORS_ORIGINS.`
    : "";

/**
 * Answers pages of other origins (CORS_ORIGINS) and their preflights. Browsers send preflights without a credential, so they are
 * answered before authentication, look-ups and admission.
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
