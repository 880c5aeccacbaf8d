import { isUtf8 } from "node:buffer";
import type { FastifyRequest } from "fastify";
import { currentTime } from "#events/clock.ts";
import type { TriggerInUse } from "#projections/triggers/query.ts";
import { makeRecheckable } from "../auth/authenticate.ts";
import { BEARER, matchesHash } from "../auth/bearer.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { findOrWait } from "../base/findById.ts";
import { checkSignature, type SignedRequest } from "./hookSignature.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** The hook's trigger; set on the routes of hooks. */
    trigger: TriggerInUse;
  }
}

/** 18 random bytes in base64url. */
const HOOK_TOKEN = /^[A-Za-z0-9_-]{24}$/;

/** Unknown, disabled and deleted hooks all get this answer. */
const hookNotFound = () => new ApiError("trigger_not_found", "There is no such hook.");
const invalidSecret = () => new ApiError("invalid_webhook_secret", "The webhook secret is not the one of this hook.");

/** The header that may carry the secret instead of `Authorization`, and the prefix of secrets. */
interface SecretForm {
  header: string;
  prefix: string;
}

const headerValues = (rawHeaders: readonly string[], name: string): string[] =>
  rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]!.toLowerCase() === name);

/**
 * Reads the secret of a request. Throws 401 `missing_webhook_secret`, and 401 `invalid_webhook_secret` for two different secrets.
 * If the secret is in its own header, an `Authorization` with another kind of credential is ignored, because a proxy may have
 * added it.
 */
function readSecret(rawHeaders: readonly string[], { header, prefix }: SecretForm): string {
  const sent = headerValues(rawHeaders, header).map((value) => value.trim());
  const isSecret = (value: string): boolean =>
    sent.length === 0 || BEARER.exec(value)?.[1]?.startsWith(prefix) === true;
  const bearers = headerValues(rawHeaders, "authorization").filter((value) => value.trim() !== "" && isSecret(value));
  const secrets = [...bearers.map((value) => BEARER.exec(value)?.[1] ?? ""), ...sent];
  if (secrets.every((secret) => secret === "") && bearers.length === 0)
    throw new ApiError(
      "missing_webhook_secret",
      `Send the webhook secret: Authorization: Bearer <secret>, or ${header}.`,
    );
  if (new Set(secrets).size > 1) throw invalidSecret();
  return secrets[0]!;
}

const secretForm = ({ settings }: Http): SecretForm => ({
  header: `x-${settings.SERVICE_NAME}-webhook-secret`,
  prefix: `whsec-${settings.SERVICE_NAME}-`,
});

/** Finds the enabled trigger of a hook. Reads it for each request, so that a rotated secret stops working at once. */
async function findTrigger(
  { findTriggerByToken, waitUntilCurrent }: Http,
  { params }: FastifyRequest,
): Promise<TriggerInUse | undefined> {
  const { hook_token } = params as { hook_token: string };
  if (!HOOK_TOKEN.test(hook_token)) return undefined;
  const trigger = await findOrWait(
    () => findTriggerByToken(hook_token),
    () => waitUntilCurrent(["triggers", "workflows"]),
  );
  return trigger?.enabled && !trigger.parked ? trigger : undefined;
}

/** Throws 404 `trigger_not_found`, and 401 `invalid_webhook_secret` for a wrong secret. */
function admit(request: FastifyRequest, trigger: TriggerInUse | undefined, secret: string): void {
  if (!trigger) throw hookNotFound();
  if (!matchesHash(secret, trigger.secret_hash)) throw invalidSecret();
  request.trigger = trigger;
}

/** Hook for webhook routes: requires the trigger's secret. */
export const requireSecret = (http: Http) => {
  const form = secretForm(http);
  return makeRecheckable(async (request) => {
    const secret = readSecret(request.raw.rawHeaders, form);
    admit(request, await findTrigger(http, request), secret);
  });
};

/**
 * Like `requireSecret`, except for triggers with a signature scheme: their senders sign the body, which `requireSignature` checks
 * once it has arrived.
 */
export const requireSecretOrScheme = (http: Http) => {
  const form = secretForm(http);
  return makeRecheckable(async (request) => {
    const trigger = await findTrigger(http, request);
    if (trigger?.verify) request.trigger = trigger;
    else admit(request, trigger, readSecret(request.raw.rawHeaders, form));
  });
};

/** Throws 401 unless the request is signed with the trigger's signing secret. */
export function requireSignature(
  { keyring }: Pick<Http, "keyring">,
  { organization_id, trigger_id, verify, sealed_secret }: TriggerInUse,
  request: SignedRequest,
): void {
  if (!verify || sealed_secret === null) throw hookNotFound();
  const secret = keyring.openSecret(signingPurpose(organization_id, trigger_id), sealed_secret);
  checkSignature(verify, secret, request, currentTime());
}

/** The purpose under which a trigger's signing secret is sealed. */
export const signingPurpose = (organization: string, trigger: string): string => `trigger:${organization}:${trigger}`;

/** In characters. */
const MAX_EXTERNAL_USER = 256;
const NOT_PRINTABLE = /\p{C}/u;

/** The text of a header. Node passes each byte as a character; clients send UTF-8 or, as `fetch` does, Latin-1. */
function headerText(value: string): string {
  const bytes = Buffer.from(value, "latin1");
  return isUtf8(bytes) ? bytes.toString("utf8") : value;
}

/** Reads the user to whom the caller attributes the run; null if there is none. Throws 400 `invalid_external_user`. */
export function readExternalUser(rawHeaders: readonly string[], serviceName: string): string | null {
  const header = `x-${serviceName}-external-user`;
  const values = headerValues(rawHeaders, header);
  if (values.length === 0) return null;
  const value = headerText(values[0]!).trim();
  if (values.length > 1 || NOT_PRINTABLE.test(value) || Array.from(value).length > MAX_EXTERNAL_USER)
    throw new ApiError(
      "invalid_external_user",
      `${header} must be sent once, with at most ${MAX_EXTERNAL_USER} printable characters.`,
      { param: header },
    );
  return value === "" ? null : value;
}
