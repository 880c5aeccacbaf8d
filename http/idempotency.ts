import { createHash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { newCommandId, partsOf } from "#events/ids.ts";
import type { RejectionDetails } from "#events/rejection.ts";
import type { Db } from "#projections/projection.ts";
import { ApiError } from "./errors.ts";

const WELL_FORMED = /^[\x21-\x7e]{1,255}$/;
const digest = (parts: unknown[]): string => createHash("sha256").update(JSON.stringify(parts)).digest("hex");

/** What makes two requests the same: who asks, for whom, and where. */
export interface Asking {
  organization_id: string;
  principal: string;
  user: string | undefined;
  method: string;
  path: string;
}

/** The client's Idempotency-Key; undefined without one. Throws a 400 for one that is not well formed. */
export function idempotencyKey(headers: IncomingHttpHeaders): string | undefined {
  const key = headers["idempotency-key"];
  if (key === undefined) return undefined;
  if (typeof key === "string" && WELL_FORMED.test(key)) return key;
  throw new ApiError("invalid_idempotency_key", "Idempotency-Key must be 1 to 255 printable ASCII characters.");
}

/** The same for the same request under the same key; random without a key. Another tenant's equal key gives another id. */
export function commandId({ organization_id, principal, user, method, path }: Asking, key: string | undefined): string {
  return key === undefined ? newCommandId() : digest([organization_id, principal, user ?? null, method, path, key]);
}

/** Of everything that was sent, beyond what the id covers. `body` is a hash of the body, or of a multipart body's fields and file. */
export const fingerprintOf = (
  { organization_id, principal, user, method, path }: Asking,
  body: string,
  more: string[] = [],
): string => digest([organization_id, principal, user ?? null, method, path, body, ...more]);

/** A unique name is held in a stream of its own, whose event comes with those of the thing: after them, and few. */
const THING = `join lateral (select e.stream, e.position from log.events e
    where e.position > c.position - 10 and e.position <= c.position
      and e.command_id = c.command_id and e.organization_id = c.organization_id and e.stream not like 'claim-%'
    order by e.position desc limit 1) e on true`;

/** What a command led to under this id and fingerprint: the stream and position of its last event. Undefined when to nothing. */
export async function doneBefore(
  db: Db,
  organization: string,
  id: string,
  fingerprint: string,
): Promise<{ stream: string; position: number } | undefined> {
  const [found] = await db.query<{ stream: string; position: number }>(
    `select e.stream, e.position from log.commands c ${THING}
     where c.command_id = $1 and c.organization_id = $2 and c.fingerprint = $3`,
    [id, organization, fingerprint],
  );
  return found;
}

/** What became of a request that was sent under this key before. */
export interface Before {
  /** The stream of what it made. */
  made: string | undefined;
  rejection: RejectionDetails | undefined;
}

/** Undefined when the id is new. Throws 422 `idempotency_key_reused` when something else was sent under it. */
export async function outcomeBefore(
  db: Db,
  organization: string,
  id: string,
  fingerprint: string,
): Promise<Before | undefined> {
  const [found] = await db.query<{ fingerprint: string | null; rejection: string | null; stream: string | null }>(
    `select c.fingerprint, c.rejection, e.stream from log.commands c left ${THING}
     where c.command_id = $1 and c.organization_id = $2`,
    [id, organization],
  );
  if (!found) return undefined;
  if (found.fingerprint !== fingerprint)
    throw new ApiError(
      "idempotency_key_reused",
      "This Idempotency-Key was used with another request body; use a new key for a new request.",
      { param: "Idempotency-Key" },
    );
  return {
    made: found.stream ?? undefined,
    rejection: found.rejection === null ? undefined : (JSON.parse(found.rejection) as RejectionDetails),
  };
}

/** The id of the thing that a repeated command made. Throws 503 when its outcome went away meanwhile. */
export async function madeBefore(db: Db, organization: string, id: string, fingerprint: string): Promise<string> {
  const before = await doneBefore(db, organization, id, fingerprint);
  if (!before) throw new ApiError("unavailable", "What this request did before cannot be read now; try again shortly.");
  return partsOf(before.stream).id;
}
