import { timingSafeEqual } from "node:crypto";
import type { FastifyRequest } from "fastify";
import { findTriggerByToken, type TriggerInUse } from "#projections/triggers/query.ts";
import { BEARER, hashOf } from "../auth/bearer.ts";
import type { Http } from "../deps.ts";
import { ApiError } from "../errors.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Set on the routes of a hook. */
    trigger: TriggerInUse;
  }
}

/** 18 random bytes, base64url. */
const HOOK_TOKEN = /^[A-Za-z0-9_-]{24}$/;

/** The same for what is unknown, disabled and deleted. */
const hookNotFound = () => new ApiError("trigger_not_found", "There is no such hook.");
const invalidSecret = () => new ApiError("invalid_webhook_secret", "The webhook secret is not that of this hook.");

const headersNamed = (rawHeaders: readonly string[], name: string): string[] =>
  rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]!.toLowerCase() === name);

/** The one secret of a request. Throws 401 `missing_webhook_secret` without one, 401 `invalid_webhook_secret` for two that differ. */
function secretOf(rawHeaders: readonly string[], header: string): string {
  const bearers = headersNamed(rawHeaders, "authorization").filter((value) => value.trim() !== "");
  const secrets = [
    ...bearers.map((value) => BEARER.exec(value)?.[1] ?? ""),
    ...headersNamed(rawHeaders, header).map((value) => value.trim()),
  ];
  if (secrets.every((secret) => secret === "") && bearers.length === 0)
    throw new ApiError(
      "missing_webhook_secret",
      `Send the webhook secret: Authorization: Bearer <secret>, or ${header}.`,
    );
  if (new Set(secrets).size > 1) throw invalidSecret();
  return secrets[0]!;
}

const isSame = (hash: string, kept: string): boolean =>
  hash.length === kept.length && timingSafeEqual(Buffer.from(hash), Buffer.from(kept));

async function triggerOf({ db, freshRead }: Http, token: string): Promise<TriggerInUse | undefined> {
  if (!HOOK_TOKEN.test(token)) return undefined;
  const found = await findTriggerByToken(db, token);
  if (found) return found;
  // it may have been made a moment ago
  await freshRead(["triggers", "workflows"]);
  return findTriggerByToken(db, token);
}

/** Hook for the routes of a hook: its trigger and the secret are read fresh each time, so that one that was rotated stops at once. */
export const requireSecret = (http: Http) => async (request: FastifyRequest) => {
  const secret = secretOf(request.raw.rawHeaders, `x-${http.settings.SERVICE_NAME}-webhook-secret`);
  const trigger = await triggerOf(http, (request.params as { hook_token: string }).hook_token);
  if (!trigger?.enabled || trigger.parked) throw hookNotFound();
  if (!isSame(hashOf(secret), trigger.secret_hash)) throw invalidSecret();
  request.trigger = trigger;
};

const MAX_EXTERNAL_USER = 256;
const NOT_PRINTABLE = /\p{C}/u;

/** Whom the caller names for attribution, as UTF-8; null where nobody. Throws 400 `invalid_external_user`. */
export function externalUserOf(rawHeaders: readonly string[], serviceName: string): string | null {
  const header = `x-${serviceName}-external-user`;
  const values = headersNamed(rawHeaders, header);
  if (values.length === 0) return null;
  const value = Buffer.from(values[0]!, "latin1").toString("utf8").trim();
  if (
    values.length > 1 ||
    NOT_PRINTABLE.test(value) ||
    value.includes("\ufffd") ||
    Array.from(value).length > MAX_EXTERNAL_USER
  )
    throw new ApiError(
      "invalid_external_user",
      `${header} must be sent once, with at most ${MAX_EXTERNAL_USER} printable characters.`,
      { param: header },
    );
  return value === "" ? null : value;
}
