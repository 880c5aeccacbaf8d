import { blobFolder, newId, parseStreamName, streamName } from "#events/ids.ts";
import type { Http } from "../base/deps.ts";
import { ApiError, rejectionError } from "../base/errors.ts";
import { nextCommand, findPreviousOutcome, type CreationReceipt, type IdempotentRequest } from "../base/idempotency.ts";
import { runWithinLimits, type AdmissionRequest } from "../base/limits.ts";
import { requireStorage } from "../base/storageLimits.ts";

/** Finds the id of the thing that holds a unique name. */
export async function findHolder({ log }: Pick<Http, "log">, claim: string): Promise<string | undefined> {
  const stream = (await log.claimHolders([claim])).get(claim);
  return stream === undefined ? undefined : parseStreamName(stream).id;
}

/** Input of the command that creates a thing: its new id, its stored bytes and data key, and the request. */
export interface NewThing {
  id: string;
  blob: string;
  keys: Record<string, string>;
  identity: IdempotentRequest;
}

export interface StoreOptions<R> {
  kind: "document" | "extraction";
  identity: IdempotentRequest;
  /** What is counted against limits and budgets. */
  admission: AdmissionRequest;
  bytes: Buffer;
  /** The request field that holds the bytes. */
  param: string;
  /** The unique name that things with the same content share. */
  claim: string;
  create(thing: NewThing): Promise<CreationReceipt>;
  /** Finds an existing thing; undefined if it is gone. */
  find(id: string): Promise<R | undefined>;
  /** The error for a repeated request whose thing is gone. It is not created again. */
  notFound(): ApiError;
  /** Called before the next attempt if the holder of the unique name cannot be found, because it has ended or is about to. */
  onHolderGone(id: string): Promise<void>;
}

/**
 * `created`: by this request now. `repeated`: by an earlier delivery of this request. `existing`: by another request with the
 * same content.
 */
export type StoreResult<R> =
  | { kind: "created"; id: string; position: number; projected: boolean }
  | { kind: "repeated"; row: R }
  | { kind: "existing"; row: R };

type AttemptResult = Exclude<StoreResult<never>, { row: never }> | { kind: "repeated" | "existing"; id: string };

async function create<R>(http: Http, options: StoreOptions<R>, identity: IdempotentRequest): Promise<AttemptResult> {
  const stored = { bytes: options.bytes.length, param: options.param, isRead: true };
  await requireStorage(http, identity.organization_id, stored);
  const id = newId();
  const thing = streamName(options.kind, id);
  const folder = blobFolder(identity.organization_id, thing);
  const wrapped_key = http.vault.createKey(thing);
  try {
    const { isNew, created_id, position, projected } = await runWithinLimits(http, options.admission, async () => {
      const blob = await http.vault.put({ thing, wrapped_key, folder }, options.bytes);
      return options.create({ id, blob, keys: { [thing]: wrapped_key }, identity });
    });
    if (isNew) return { kind: "created", id, position, projected };
    await http.blobs.removeAll(folder);
    return { kind: "repeated", id: created_id };
  } catch (error) {
    // only this rejection is certain; after any other failure the command may still succeed and need the blob
    if (!(error instanceof ApiError) || error.heldBy === undefined) throw error;
    await http.blobs.removeAll(folder);
    return { kind: "existing", id: parseStreamName(error.heldBy).id };
  }
}

async function attempt<R>(http: Http, options: StoreOptions<R>, identity: IdempotentRequest): Promise<AttemptResult> {
  const previous = await findPreviousOutcome(http, identity);
  if (previous?.event) return { kind: "repeated", id: parseStreamName(previous.event.stream).id };
  if (previous?.rejection?.held_by) return { kind: "existing", id: parseStreamName(previous.rejection.held_by).id };
  if (previous?.rejection) throw rejectionError(previous.rejection);
  const holder = await findHolder(http, options.claim);
  return holder === undefined ? create(http, options, identity) : { kind: "existing", id: holder };
}

const MAX_ATTEMPTS = 4;

/**
 * Seals and stores an upload at most once. Requests with the same content share one thing while it exists, and so do repeated
 * requests with the same key. Existing content is not written again.
 */
export async function storeOnce<R>(http: Http, options: StoreOptions<R>): Promise<StoreResult<R>> {
  let identity = options.identity;
  for (let n = 0; n < MAX_ATTEMPTS; n++) {
    const result = await attempt(http, options, identity);
    if (result.kind === "created") return result;
    const row = await options.find(result.id);
    if (row) return { kind: result.kind, row };
    if (result.kind === "repeated") throw options.notFound();
    await options.onHolderGone(result.id);
    identity = nextCommand(identity, "once more");
  }
  throw new ApiError("unavailable", "The same content is being deleted; try again shortly.");
}
