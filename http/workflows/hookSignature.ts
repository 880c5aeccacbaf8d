import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { ProviderScheme, Verification } from "#events/trigger.ts";
import { ApiError } from "../base/errors.ts";
import { twilioTexts } from "./twilioTexts.ts";

/** A signed request. The body is raw, because parsing and writing it again would change it. */
export interface SignedRequest {
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** The public address that was called, with its query. */
  url: string;
}

/** The signature that a scheme finds in a request. */
interface Claim {
  /** The header that holds the signatures. */
  header: string;
  /** One of them must match. A sender whose secret is being replaced signs with both. */
  signatures: string[];
  /** The right signatures; one of them is enough. */
  expected: () => string[];
  /** Unix seconds as text; null if the scheme does not sign a time. */
  sentAt: string | null;
  /** What the header contains, for the error message, if that is not a signature of the body. */
  content?: string;
  refusal?: string;
}

/** Maximum difference in seconds between the signed time and now. Beyond it the request may be a replay. */
const MAX_AGE_S = 300;
/** Characters of an address in a message. */
const MAX_SHOWN = 500;

const headerText = ({ headers }: Pick<SignedRequest, "headers">, name: string): string => String(headers[name] ?? "");
const withoutPrefix = (texts: string[], prefix: string): string[] =>
  texts.filter((text) => text.startsWith(prefix)).map((text) => text.slice(prefix.length));
const lowerCase = (texts: string[]): string[] => texts.map((text) => text.toLowerCase());
const sha256 = (data: string | Buffer): string => createHash("sha256").update(data).digest("hex");

type Hmac = { algorithm?: "sha1" | "sha256" | "sha512"; encoding?: "hex" | "base64"; key: string | Buffer };
const hmac = ({ algorithm = "sha256", encoding = "hex", key }: Hmac, ...parts: (string | Buffer)[]): string => {
  const keyed = createHmac(algorithm, key);
  for (const part of parts) keyed.update(part);
  return keyed.digest(encoding);
};

/** `t=1,v1=…,v1=…` */
function stripe(request: SignedRequest, key: string): Claim {
  const header = "stripe-signature";
  const parts = headerText(request, header).split(",");
  const sentAt = withoutPrefix(parts, "t=")[0] ?? "";
  const signatures = lowerCase(withoutPrefix(parts, "v1="));
  return { header, signatures, expected: () => [hmac({ key }, `${sentAt}.`, request.body)], sentAt };
}

function slack(request: SignedRequest, key: string): Claim {
  const header = "x-slack-signature";
  const sentAt = headerText(request, "x-slack-request-timestamp");
  const signatures = lowerCase(withoutPrefix([headerText(request, header)], "v0="));
  return { header, signatures, expected: () => [hmac({ key }, `v0:${sentAt}:`, request.body)], sentAt };
}

function github(request: SignedRequest, key: string): Claim {
  const header = "x-hub-signature-256";
  const signatures = lowerCase(withoutPrefix([headerText(request, header)], "sha256="));
  return { header, signatures, expected: () => [hmac({ key }, request.body)], sentAt: null };
}

/** GitLab sends the secret itself. Comparing hashes does not reveal its length. */
function gitlab(request: SignedRequest, secret: string): Claim {
  const header = "x-gitlab-token";
  const sent = Buffer.from(headerText(request, header), "latin1");
  const refusal = `${header} is not the trigger's signing secret.`;
  return {
    header,
    signatures: [sha256(sent)],
    expected: () => [sha256(secret)],
    sentAt: null,
    content: "secret token",
    refusal,
  };
}

function shopify(request: SignedRequest, key: string): Claim {
  const header = "x-shopify-hmac-sha256";
  const expected = () => [hmac({ encoding: "base64", key }, request.body)];
  return { header, signatures: [headerText(request, header)], expected, sentAt: null };
}

function twilio(request: SignedRequest, key: string): Claim {
  const header = "x-twilio-signature";
  const expected = () => twilioTexts(request).map((text) => hmac({ algorithm: "sha1", encoding: "base64", key }, text));
  const refusal = `${header} is no signature of this body and ${request.url.slice(0, MAX_SHOWN)} with the trigger's signing secret. Twilio must call exactly this address; it starts with the setting BASE_URL.`;
  return { header, signatures: [headerText(request, header)], expected, sentAt: null, refusal };
}

/** Some senders of Standard Webhooks call the headers `svix-…`. */
const standardPrefix = ({ headers }: SignedRequest): string => ("svix-id" in headers ? "svix" : "webhook");

/** `v1,… v1,…`, over the id, the time and the body. The secret is base64 after `whsec_`. */
function standardWebhooks(request: SignedRequest, secret: string): Claim {
  const prefix = standardPrefix(request);
  const header = `${prefix}-signature`;
  const sentAt = headerText(request, `${prefix}-timestamp`);
  const signatures = withoutPrefix(headerText(request, header).split(" "), "v1,");
  const before = `${headerText(request, `${prefix}-id`)}.${sentAt}.`;
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  return { header, signatures, expected: () => [hmac({ encoding: "base64", key }, before, request.body)], sentAt };
}

function anyHmac(verify: Extract<Verification, { scheme: "hmac" }>, request: SignedRequest, key: string): Claim {
  const { header, algorithm, encoding, prefix, timestamp_header } = verify;
  const sentAt = timestamp_header === null ? null : headerText(request, timestamp_header);
  const sent = withoutPrefix([headerText(request, header)], prefix);
  const before = sentAt === null ? "" : `${sentAt}.`;
  return {
    header,
    signatures: encoding === "hex" ? lowerCase(sent) : sent,
    expected: () => [hmac({ algorithm, encoding, key }, before, request.body)],
    sentAt,
  };
}

const PROVIDERS: Record<ProviderScheme, (request: SignedRequest, secret: string) => Claim> = {
  github,
  gitlab,
  shopify,
  slack,
  "standard-webhooks": standardWebhooks,
  stripe,
  twilio,
};

/** Compares in constant time. A signature of another length or alphabet never matches. */
const isSame = (a: string, b: string): boolean => {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
};

/**
 * Throws 401 `missing_webhook_signature`, and 401 `invalid_webhook_signature` for a signature that is not of this body and this
 * secret, or whose time is more than five minutes away. `now`: epoch milliseconds.
 */
export function checkSignature(verify: Verification, secret: string, request: SignedRequest, now: number): void {
  const claim = verify.scheme === "hmac" ? anyHmac(verify, request, secret) : PROVIDERS[verify.scheme](request, secret);
  const { header, signatures, sentAt, content = "signature" } = claim;
  if (!(header in request.headers))
    throw new ApiError("missing_webhook_signature", `The request has no ${content}: the header ${header} is missing.`);
  const invalid = (message: string) => new ApiError("invalid_webhook_signature", message);
  const isSigned = claim.expected().some((right) => signatures.some((signature) => isSame(signature, right)));
  if (!isSigned)
    throw invalid(claim.refusal ?? `${header} is no signature of this body with the trigger's signing secret.`);
  if (sentAt !== null && !(/^\d{1,12}$/.test(sentAt) && Math.abs(now / 1_000 - Number(sentAt)) <= MAX_AGE_S))
    throw invalid(`The request was signed more than ${MAX_AGE_S / 60} minutes ago, or in the future.`);
}

const textField = (payload: unknown, name: string): string | undefined => {
  const value =
    typeof payload === "object" && payload !== null ? (payload as Record<string, unknown>)[name] : undefined;
  return typeof value === "string" && value !== "" ? value : undefined;
};

/**
 * The id of a delivery that the sender may repeat; undefined if it has none. A signed time also identifies a delivery: then the
 * signature is the id.
 */
export function deliveryId(verify: Verification, request: SignedRequest, payload: unknown): string | undefined {
  const header = (name: string) => headerText(request, name) || undefined;
  switch (verify.scheme) {
    case "github":
      return header("x-github-delivery");
    case "gitlab": {
      const event = header("x-gitlab-event-uuid");
      // events caused by GitLab's own hooks reuse the id of the first one, so the body is included
      return header("idempotency-key") ?? (event && `${event} ${sha256(request.body)}`);
    }
    case "shopify":
      return header("x-shopify-webhook-id");
    case "twilio":
      return header("i-twilio-idempotency-token");
    case "stripe":
      return textField(payload, "id") ?? header("stripe-signature");
    case "slack":
      return textField(payload, "event_id") ?? header("x-slack-signature");
    case "standard-webhooks":
      return header(`${standardPrefix(request)}-id`);
    case "hmac": {
      const { header: signature, id_header, timestamp_header } = verify;
      const id = id_header === null ? undefined : header(id_header);
      return id ?? (timestamp_header === null ? header("idempotency-key") : header(signature));
    }
  }
}
