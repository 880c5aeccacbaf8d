import { createHash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { FastifyRequest } from "fastify";
import type { CommandDefinition } from "#events/define.ts";
import { newCommandId, parseStreamName } from "#events/ids.ts";
import type { RejectionDetails } from "#events/rejection.ts";
import type { Http } from "./deps.ts";
import { ApiError } from "./errors.ts";
import type { StoredOutcome } from "./ports.ts";
import type { CommandReceipt, CommandRequest } from "./send.ts";

const WELL_FORMED_KEY = /^[\x21-\x7e]{1,255}$/;
const hash = (parts: unknown[]): string => createHash("sha256").update(JSON.stringify(parts)).digest("hex");

/** Reads the client's Idempotency-Key, if it sent one. Throws 400 `invalid_idempotency_key`. */
export function readIdempotencyKey(headers: IncomingHttpHeaders): string | undefined {
  const key = headers["idempotency-key"];
  if (key === undefined) return undefined;
  if (typeof key === "string" && WELL_FORMED_KEY.test(key)) return key;
  throw new ApiError(
    "invalid_idempotency_key",
    "Idempotency-Key must be sent once, with 1 to 255 printable ASCII characters and no space.",
    { param: "Idempotency-Key" },
  );
}

/**
 * Identifies a request. Requests of the same caller to the same path with the same Idempotency-Key share a command id, and so
 * have at most one effect. The fields can be spread into a CommandRequest.
 */
export interface IdempotentRequest {
  organization_id: string;
  /** Command id. Random without an Idempotency-Key, so that the request repeats no other. */
  id: string;
  /** Hash of everything that was sent. A key may not be reused with another fingerprint. */
  fingerprint: string;
  hasKey: boolean;
}

interface RequestParts {
  organization_id: string;
  principal: string;
  user?: string | undefined;
  path: string;
  key: string | undefined;
  /** Hash of the body, or of the fields and the file of a form. */
  body: string;
  /** Further values that must be equal in a repetition. */
  more?: string[];
}

/** Identifies a POST whose key or sender is not where `identifyPost` looks for it. */
export function identifyParts(parts: RequestParts): IdempotentRequest {
  const { organization_id, principal, user, path, key, body, more = [] } = parts;
  const sender = [organization_id, principal, user ?? null, "POST", path];
  return {
    organization_id,
    id: key === undefined ? newCommandId() : hash([...sender, key]),
    fingerprint: hash([...sender, body, ...more]),
    hasKey: key !== undefined,
  };
}

/** Identifies a POST by its caller, path, Idempotency-Key and JSON body, or by the values in `parts`. */
export function identifyPost(
  request: Pick<FastifyRequest, "caller" | "headers" | "bodyHash">,
  path: string,
  parts: Pick<Partial<RequestParts>, "user" | "body" | "more"> = {},
): IdempotentRequest {
  const { organization_id, principal } = request.caller;
  const key = readIdempotencyKey(request.headers);
  return identifyParts({ organization_id, principal, path, key, body: request.bodyHash, ...parts });
}

/** The same request with the id of its next command, for requests that send more than one. */
export const nextCommand = (request: IdempotentRequest, step: string): IdempotentRequest => ({
  ...request,
  id: hash([request.id, step]),
});

/** The outcome of an earlier delivery of a request. */
export interface PreviousOutcome {
  /** The last event that the command appended to its own stream. */
  event: StoredOutcome["event"];
  rejection: RejectionDetails | undefined;
}

/**
 * Finds the outcome of an earlier delivery. Undefined if the request is new or has no key. Throws 422 `idempotency_key_reused` if
 * the key was used for another request.
 */
export async function findPreviousOutcome(
  { outcomes }: Pick<Http, "outcomes">,
  { organization_id, id, fingerprint, hasKey }: IdempotentRequest,
): Promise<PreviousOutcome | undefined> {
  const stored = hasKey ? await outcomes.find(organization_id, id) : undefined;
  if (!stored) return undefined;
  if (stored.fingerprint !== fingerprint)
    throw new ApiError(
      "idempotency_key_reused",
      "This Idempotency-Key was used with another request body; use a new key for a new request.",
      { param: "Idempotency-Key" },
    );
  return { event: stored.event, rejection: stored.rejection ?? undefined };
}

/**
 * The id of what an earlier delivery of the request created. Call it before checking anything that may have changed since: a
 * repetition gets what the first request created, even if it could not be created now.
 */
export async function findCreated(
  http: Pick<Http, "outcomes">,
  identity: IdempotentRequest,
): Promise<string | undefined> {
  const event = (await findPreviousOutcome(http, identity))?.event;
  return event ? parseStreamName(event.stream).id : undefined;
}

/** The event that a repeated command appended at its first delivery. Throws 503 if the outcome cannot be read. */
export async function findFirstEvent(
  { outcomes }: Pick<Http, "outcomes">,
  { organization_id, id, fingerprint }: Omit<IdempotentRequest, "hasKey">,
): Promise<NonNullable<StoredOutcome["event"]>> {
  const stored = await outcomes.find(organization_id, id);
  if (stored?.event && stored.fingerprint === fingerprint) return stored.event;
  throw new ApiError("unavailable", "The outcome of this request cannot be read now; try again shortly.");
}

export interface CreationReceipt extends CommandReceipt {
  created_id: string;
  /** False if an earlier request with the same key created it. */
  isNew: boolean;
}

/**
 * Sends a command that creates the thing its stream is named for. A repeated request creates nothing, and its `created_id` is that of
 * the first request. Throws the rejection, and 503 if the first outcome cannot be read.
 */
export async function createOnce<D>(
  http: Pick<Http, "send" | "outcomes">,
  definition: CommandDefinition<string, D>,
  command: CommandRequest<D> & Pick<IdempotentRequest, "id" | "fingerprint">,
): Promise<CreationReceipt> {
  const receipt = await http.send(definition, { ...command, fresh: true });
  const own_id = parseStreamName(command.stream).id;
  // a command delivered twice by the bus counts as repeated, too, although it created this very thing
  const created_id = receipt.repeated ? parseStreamName((await findFirstEvent(http, command)).stream).id : own_id;
  return { ...receipt, created_id, isNew: created_id === own_id };
}

/**
 * Sends a command that gives a thing a new secret. The log keeps only its hash. Returns true if the secret of this very request
 * is in use, and may be shown. Compares the hashes even for repeated commands, because a command whose outcome had to be looked
 * up counts as repeated. Throws 503 while the old secret may still work.
 */
export async function rotateOnce<D>(
  http: Pick<Http, "send" | "outcomes" | "log">,
  definition: CommandDefinition<string, D>,
  command: CommandRequest<D> & Pick<IdempotentRequest, "id" | "fingerprint">,
  hashField: keyof D,
): Promise<boolean> {
  const { repeated } = await http.send(definition, { ...command, requireProjected: true });
  if (!repeated) return true;
  const { stream, version } = await findFirstEvent(http, command);
  const recorded = (await http.log.publicData(stream, version)) as D | undefined;
  return recorded?.[hashField] === command.data[hashField];
}
