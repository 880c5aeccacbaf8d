import type { FastifyRequest } from "fastify";
import type { z } from "zod";
import type { Product } from "#events/key.ts";
import type { Role } from "#events/user.ts";
import type { KeyInUse } from "#projections/keys/query.ts";
import { findSessionByTokenHash, type SessionRow } from "#projections/sessions/query.ts";
import { ApiError } from "../errors.ts";
import type { Http } from "../deps.ts";
import { bearerOf, hashOf } from "./bearer.ts";
import type { Caller } from "./caller.ts";

const IDLE_MS = 12 * 60 * 60 * 1000;

type Needs = Pick<Http, "db" | "keyByHash" | "settings" | "used" | "freshRead">;

/** The rules of a key at a moment. Throws the spec's 401 codes. */
export function callerOfKey(key: KeyInUse | undefined, now: number): Caller {
  if (!key || key.parked) throw new ApiError("invalid_api_key", "The API key is not known.");
  if (!key.enabled) throw new ApiError("api_key_disabled", "The API key is disabled.");
  if (key.expires_at && key.expires_at.getTime() <= now)
    throw new ApiError("expired_api_key", "The API key has expired.");
  const { organization_id, allowed_models, products, project_id } = key;
  return { organization_id, principal: `key:${key.id}`, allowed_models, products, project_id, session: undefined };
}

/** The rules of a session at a moment: 12 h without use, and the absolute end. Throws 401 `invalid_session`. */
export function callerOfSession(session: SessionRow | undefined, now: number): Caller {
  const live =
    session && !session.parked && session.expires_at.getTime() > now && session.idle_since.getTime() + IDLE_MS > now;
  if (!live) throw new ApiError("invalid_session", "The session is not valid or has ended; sign in again.");
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

/** What is not found may have been made a moment ago: it is refused only by read models that have all. */
async function certain<R>({ freshRead }: Needs, projection: string, find: () => Promise<R | undefined>) {
  const found = await find();
  if (found) return found;
  await freshRead([projection]);
  return find();
}

async function callerOf(http: Needs, rawHeaders: readonly string[]): Promise<Caller> {
  const { db, keyByHash, settings, used } = http;
  const token = bearerOf(rawHeaders);
  const now = Date.now();
  if (token.startsWith(`sess-${settings.SERVICE_NAME}-`)) {
    const caller = callerOfSession(
      await certain(http, "sessions", () => findSessionByTokenHash(db, hashOf(token))),
      now,
    );
    used(caller.session!.session_id);
    return caller;
  }
  if (!token.startsWith(`sk-${settings.SERVICE_NAME}-`))
    throw new ApiError("invalid_api_key", "The API key is not known.");
  const caller = callerOfKey(await certain(http, "keys", () => keyByHash(hashOf(token))), now);
  used(caller.principal.slice("key:".length));
  return caller;
}

const READING = new Set(["GET", "HEAD"]);
/** What a viewer may send beside that: it changes nothing, or only what is one's own. Who decides an approval is said there. */
const OPEN_TO_VIEWERS = new Set([
  "/api/v1/knowledge/search",
  "/api/auth/logout",
  "/api/auth/password",
  "/api/workflows/approvals/:approval_id/decision",
]);

/** Sets the caller. Throws 403 `forbidden` where a viewer would change something. */
async function identify(http: Needs, request: FastifyRequest): Promise<Caller> {
  const caller = await callerOf(http, request.raw.rawHeaders);
  const { method, url = "" } = request.routeOptions;
  if (caller.session?.role === "viewer" && !READING.has(String(method)) && !OPEN_TO_VIEWERS.has(url))
    throw new ApiError("forbidden", "A viewer may only read.");
  request.caller = caller;
  return caller;
}

/** Hook for routes that a key or a session reaches: one query, never cached. */
export const requireCredential = (http: Needs) => async (request: FastifyRequest) => {
  await identify(http, request);
};

/** Hook for routes of a product that a key must be enabled for. Throws 403 `product_not_enabled`. */
export const requireProduct = (http: Needs, product: z.infer<typeof Product>) => async (request: FastifyRequest) => {
  const { products } = await identify(http, request);
  if (!products.includes(product))
    throw new ApiError("product_not_enabled", `This API key is not enabled for ${product}.`);
};

/** Hook for routes of a signed-in person. A key gets 403 `session_required`. */
export const requireSession = (http: Needs) => async (request: FastifyRequest) => {
  const { session } = await identify(http, request);
  if (!session) throw new ApiError("session_required", "Sign in: an API key does not reach this.");
};

/** A hook for those of a signed-in person's roles that may do it; `who` names them. Throws 403 `forbidden`. */
const requireRole = (roles: Role[], who: string) => (http: Needs) => {
  const session = requireSession(http);
  return async (request: FastifyRequest) => {
    await session(request);
    if (!roles.includes(request.caller.session!.role)) throw new ApiError("forbidden", `Only ${who} may do this.`);
  };
};

/** Hook for routes that manage keys and providers. */
export const requireAdmin = requireRole(["owner", "admin"], "an owner or an admin");

/** Hook for routes that manage what an organization builds: agents, definitions, secrets. */
export const requireBuilder = requireRole(["owner", "admin", "builder"], "a builder, an admin or an owner");
