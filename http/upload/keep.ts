import { createHash } from "node:crypto";
import type { FastifyRequest } from "fastify";
import { claimStream, newId, partsOf, streamOf } from "#events/ids.ts";
import type { Db } from "#projections/projection.ts";
import type { Http } from "../deps.ts";
import { ApiError, fromRejection } from "../errors.ts";
import { commandId, fingerprintOf, idempotencyKey, madeBefore, outcomeBefore, type Asking } from "../idempotency.ts";
import type { Sent } from "../send.ts";

/** What names one and the same request: its command's id, its fingerprint, and whether the client gave it a key. */
export interface Named {
  id: string;
  fingerprint: string;
  keyed: boolean;
}

/** `content` is a hash of what was sent, `more` what else must be the same when the request is repeated under its key. */
export function nameRequest(request: FastifyRequest, path: string, content: string, more: string[] = []): Named {
  const { organization_id, principal } = request.caller;
  const asking: Asking = { organization_id, principal, user: undefined, method: "POST", path };
  const key = idempotencyKey(request.headers);
  return { id: commandId(asking, key), fingerprint: fingerprintOf(asking, content, more), keyed: key !== undefined };
}

/** The id of the command that follows another for the same request. */
export const nextId = (id: string, what: string): string =>
  createHash("sha256")
    .update(JSON.stringify([id, what]))
    .digest("hex");

/** The stream of the thing that holds a unique name now. */
export async function holderOf(db: Db, claim: string): Promise<string | undefined> {
  const [row] = await db.query<{ state: string }>("select state from log.streams where stream = $1", [
    claimStream(claim),
  ]);
  return (row && (JSON.parse(row.state) as string | null)) ?? undefined;
}

/** A thing as it is about to be made: its id, and where its bytes are. */
export interface Made {
  id: string;
  blob: string;
  keys: Record<string, string>;
  command_id: string;
}

export interface Keeping<R> {
  kind: "document" | "extraction";
  request: FastifyRequest;
  named: Named;
  bytes: Buffer;
  /** The unique name that things of the same content share. */
  claim: string;
  send(made: Made): Promise<Sent>;
  /** A thing that is there. */
  find(id: string): Promise<R | undefined>;
  /** What the same request made before is there no longer: it is not made again. */
  lost(): ApiError;
  /** The holder of the name is not to be found: it has ended, or is about to. */
  gone(id: string): Promise<void>;
}

/** `made`: now; `repeated`: by the same request before; `there`: by another request. */
export type Kept<R> =
  | { kind: "made"; id: string; position: number; followed: boolean }
  | { kind: "repeated"; row: R }
  | { kind: "there"; row: R };

type Tried = (Made & { kind: "made"; sent: Sent }) | { kind: "repeated" | "there"; id: string };

async function make<R>(http: Http, keeping: Keeping<R>, command_id: string): Promise<Tried> {
  const { organization_id } = keeping.request.caller;
  const id = newId();
  const thing = streamOf(keeping.kind, id);
  const folder = `${organization_id}/${thing}`;
  const wrapped = http.keyring.create(thing);
  const blob = await http.blobs.put(folder, await http.keyring.sealLarge(thing, wrapped, keeping.bytes));
  const made: Made = { id, blob, keys: { [thing]: wrapped }, command_id };
  try {
    const sent = await keeping.send(made);
    if (!sent.repeated) return { kind: "made", sent, ...made };
    const before = await madeBefore(http.db, organization_id, command_id, keeping.named.fingerprint);
    if (before === id) return { kind: "made", sent, ...made };
    await http.blobs.removeAll(folder);
    return { kind: "repeated", id: before };
  } catch (error) {
    // refused for certain: any other failure may still end well
    if (!(error instanceof ApiError) || error.heldBy === undefined) throw error;
    await http.blobs.removeAll(folder);
    return { kind: "there", id: partsOf(error.heldBy).id };
  }
}

async function attempt<R>(http: Http, keeping: Keeping<R>, command_id: string): Promise<Tried> {
  const { named, request } = keeping;
  if (named.keyed) {
    const before = await outcomeBefore(http.db, request.caller.organization_id, command_id, named.fingerprint);
    if (before?.made) return { kind: "repeated", id: partsOf(before.made).id };
    if (before?.rejection?.held_by) return { kind: "there", id: partsOf(before.rejection.held_by).id };
    if (before?.rejection) throw fromRejection(before.rejection);
  }
  const holder = await holderOf(http.db, keeping.claim);
  return holder ? { kind: "there", id: partsOf(holder).id } : make(http, keeping, command_id);
}

const ATTEMPTS = 4;

/**
 * Seals and keeps what was sent, once: the same content is one thing while that is there, and so is the same request
 * under the same key. Nothing is written for content that is there.
 */
export async function keepOnce<R>(http: Http, keeping: Keeping<R>): Promise<Kept<R>> {
  let command_id = keeping.named.id;
  for (let n = 0; n < ATTEMPTS; n++) {
    const tried = await attempt(http, keeping, command_id);
    if (tried.kind === "made") {
      const { id, sent } = tried;
      return { kind: "made", id, position: sent.position, followed: sent.followed };
    }
    const row = await keeping.find(tried.id);
    if (row) return { kind: tried.kind, row };
    if (tried.kind === "repeated") throw keeping.lost();
    await keeping.gone(tried.id);
    command_id = nextId(command_id, "once more");
  }
  throw new ApiError("unavailable", "The same content is being removed just now; try again shortly.");
}
