import type { FastifyRequest } from "fastify";
import type { z } from "zod";
import { currentTime } from "#events/clock.ts";
import type { Product } from "#events/key.ts";
import { HOUR_MS } from "#events/units.ts";
import { ADMINS, APPROVERS, BUILDERS, type Role } from "#events/user.ts";
import type { KeyInUse } from "#projections/keys/query.ts";
import type { SessionRow } from "#projections/sessions/query.ts";
import { ApiError } from "../base/errors.ts";
import type { Http } from "../base/deps.ts";
import { findOrWait } from "../base/findById.ts";
import { readBearerToken, hashToken } from "./bearer.ts";
import type { Caller } from "../base/caller.ts";
import { checkCookieOrigin, readSessionCookie } from "./cookie.ts";

const IDLE_MS = 12 * HOUR_MS;

type Needs = Pick<Http, "findKeyByHash" | "findSessionByTokenHash" | "settings" | "noteUse" | "waitUntilCurrent">;

/** The caller with this key. `now`: epoch milliseconds. Throws the spec's 401 codes. */
export function callerFromKey(key: KeyInUse | undefined, now: number): Caller {
  if (!key || key.parked) throw new ApiError("invalid_api_key", "The API key is unknown.");
  if (!key.enabled) throw new ApiError("api_key_disabled", "The API key is disabled.");
  if (key.expires_at && key.expires_at.getTime() <= now)
    throw new ApiError("expired_api_key", "The API key has expired.");
  const { organization_id, allowed_models, products, project_id, client_tools } = key;
  const principal = `key:${key.id}` as const;
  return { organization_id, principal, allowed_models, products, project_id, client_tools, session: undefined };
}

/** The caller with this session. Sessions end after 12 h without use, and when they expire. Throws 401 `invalid_session`. */
export function callerFromSession(session: SessionRow | undefined, now: number): Caller {
  const isLive =
    session && !session.parked && session.expires_at.getTime() > now && session.idle_since.getTime() + IDLE_MS > now;
  if (!isLive) throw new ApiError("invalid_session", "The session is invalid or has ended; sign in again.");
  const { organization_id, user_id } = session;
  return {
    organization_id,
    principal: `person:${user_id}`,
    allowed_models: null,
    products: ["knowledge", "extraction"],
    project_id: null,
    session,
  };
}

/** Reads the token from the Authorization header, or from the cookie if there is no such header. Throws the errors of either reader. */
function readToken(settings: Needs["settings"], request: FastifyRequest): { token: string; by_cookie: boolean } {
  const token = request.headers.authorization === undefined ? readSessionCookie(settings, request) : undefined;
  if (token === undefined) return { token: readBearerToken(request.raw.rawHeaders), by_cookie: false };
  checkCookieOrigin(settings, request);
  return { token, by_cookie: true };
}

async function authenticate(http: Needs, request: FastifyRequest): Promise<Caller> {
  const { findKeyByHash, findSessionByTokenHash, waitUntilCurrent, settings, noteUse } = http;
  const { token, by_cookie } = readToken(settings, request);
  const now = currentTime();
  if (token.startsWith(`sess-${settings.SERVICE_NAME}-`)) {
    const caller = callerFromSession(
      await findOrWait(
        () => findSessionByTokenHash(hashToken(token)),
        () => waitUntilCurrent(["sessions"]),
      ),
      now,
    );
    noteUse(caller.session!.session_id);
    return { ...caller, by_cookie };
  }
  // a cookie always contains a session token
  if (by_cookie) throw new ApiError("invalid_session", "The session is invalid or has ended; sign in again.");
  if (!token.startsWith(`sk-${settings.SERVICE_NAME}-`))
    throw new ApiError("invalid_api_key", "The API key is unknown.");
  const key = await findOrWait(
    () => findKeyByHash(hashToken(token)),
    () => waitUntilCurrent(["keys"]),
  );
  const caller = callerFromKey(key, now);
  noteUse(caller.principal.slice("key:".length));
  return caller;
}

const READ_METHODS = new Set(["GET", "HEAD"]);
/**
 * Routes that viewers may use although they are not reads: they change nothing, or only the viewer's own account. Approvals check
 * their approver.
 */
const OPEN_TO_VIEWERS = new Set([
  "/api/v1/knowledge/search",
  "/api/v1/knowledge/verify",
  "/api/auth/logout",
  "/api/auth/password",
  "/api/workflows/approvals/:approval_id/decision",
]);

/** Authenticates the request and sets its caller. Throws 403 `forbidden` if a viewer would change something. */
async function identify(http: Needs, request: FastifyRequest): Promise<Caller> {
  const caller = await authenticate(http, request);
  const { method, url = "" } = request.routeOptions;
  if (caller.session?.role === "viewer" && !READ_METHODS.has(String(method)) && !OPEN_TO_VIEWERS.has(url))
    throw new ApiError("forbidden", "A viewer may only read.");
  request.caller = caller;
  return caller;
}

type AuthHook = (request: FastifyRequest) => Promise<void>;

/** Lets a long request repeat its authentication hook. */
export const makeRecheckable =
  (hook: AuthHook): AuthHook =>
  (request) => {
    request.recheckCredential = () => hook(request);
    return hook(request);
  };

/** Hook for routes that accept a key or a session. Uses one query and no cache. */
export const requireCredential = (http: Needs): AuthHook =>
  makeRecheckable(async (request) => void (await identify(http, request)));

/** Hook for routes of a product that keys must be enabled for. Throws 403 `product_not_enabled`. */
export const requireProduct = (http: Needs, product: z.infer<typeof Product>): AuthHook =>
  makeRecheckable(async (request) => {
    const { products } = await identify(http, request);
    if (!products.includes(product))
      throw new ApiError("product_not_enabled", `This API key is not enabled for ${product}.`);
  });

/** Throws 403 `session_required` for a key. */
async function identifyPerson(http: Needs, request: FastifyRequest): Promise<SessionRow> {
  const { session } = await identify(http, request);
  if (session) return session;
  throw new ApiError("session_required", "This requires a signed-in person; an API key cannot do it.");
}

/** Hook for routes that need a session. Throws 403 `session_required` for a key. */
export const requireSession = (http: Needs): AuthHook =>
  makeRecheckable(async (request) => void (await identifyPerson(http, request)));

/** Hook for routes that need a session with one of these roles; `who` names them in the error. Throws 403 `forbidden`. */
const requireRole = (roles: Role[], who: string) => (http: Needs) =>
  makeRecheckable(async (request) => {
    const { role } = await identifyPerson(http, request);
    if (!roles.includes(role)) throw new ApiError("forbidden", `Only ${who} may do this.`);
  });

/** Hook for routes that manage keys and providers. */
export const requireAdmin = requireRole(ADMINS, "an owner or an admin");

/** Hook for routes that manage agents, definitions, secrets and workflows. */
export const requireBuilder = requireRole(BUILDERS, "a builder, an admin or an owner");

/** Hook for routes that start, continue or end runs. */
export const requireRunner = requireRole(APPROVERS, "an approver, a builder, an admin or an owner");

/** Whether a role lets a member decide approvals. */
export const mayDecide = (role: string): boolean => APPROVERS.some((one) => one === role);

/** Whether the caller is signed in with a role that may see requests of others to models. */
export const isBuilder = ({ session }: Caller): boolean => session !== undefined && BUILDERS.includes(session.role);

/** Whether the caller is signed in with a role that may see what others own. */
export const isAdmin = ({ session }: Caller): boolean => session !== undefined && ADMINS.includes(session.role);
