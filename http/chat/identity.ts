import type { FastifyRequest } from "fastify";
import { isUuid } from "#events/ids.ts";
import type { Http } from "../deps.ts";
import { ApiError } from "../errors.ts";
import { commandId, fingerprintOf, idempotencyKey } from "../idempotency.ts";
import type { Identity } from "./begin.ts";
import { findNamed, joinEarlier } from "./join.ts";

/** The thread that a request goes on with. Throws `invalid_thread_id`. */
export function threadOf(request: FastifyRequest): string | undefined {
  const sent = request.headers["x-thread-id"];
  if (sent === undefined) return undefined;
  if (typeof sent === "string" && isUuid(sent)) return sent.toLowerCase();
  throw new ApiError("invalid_thread_id", "x-thread-id must be a UUID.", { param: "x-thread-id" });
}

/** What makes a request the same as another; `thread_id` where it follows from something else than the header. */
export function identityOf(
  request: FastifyRequest,
  path: string,
  user: string | undefined,
  thread_id = threadOf(request),
): Identity {
  const { organization_id, principal } = request.caller;
  const asking = { organization_id, principal, user, method: "POST", path };
  const key = idempotencyKey(request.headers);
  const fingerprint = fingerprintOf(asking, request.bodyHash, [thread_id ?? ""]);
  return { command_id: commandId(asking, key), fingerprint, named: key !== undefined, thread_id };
}

/** The turn that the request repeats: the one of its key or, without one, where it says that it is a retry, one that was left. */
export async function earlierTurn(http: Http, request: FastifyRequest, identity: Identity) {
  const { organization_id } = request.caller;
  if (identity.named) return findNamed(http, organization_id, identity);
  const retried = Number(request.headers["x-stainless-retry-count"]) > 0;
  return retried ? joinEarlier(http, organization_id, identity.fingerprint) : undefined;
}
