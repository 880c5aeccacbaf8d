import { threadBytes, type StoredFiles } from "#projections/storedFiles.ts";
import type { Http } from "./deps.ts";
import { ApiError } from "./errors.ts";

type Needs = Pick<Http, "settings" | "stored">;
export type LogNeeds = Pick<Http, "logLimits">;

const MEGABYTE = 1_000_000;

/** Files of an organization that wait to be read. Every sweep for work goes through all of them. */
const MAX_UNREAD = 50_000;
const RETRY_UNREAD_MS = 5_000;

function checkUnread({ unread }: StoredFiles): void {
  if (unread < MAX_UNREAD) return;
  const message = `${MAX_UNREAD.toLocaleString("en")} files of the organization wait to be read. Try again when fewer do.`;
  throw new ApiError("too_many_unread_files", message, { retryAfterMs: RETRY_UNREAD_MS });
}

/** Throws 429 `too_many_unread_files` while too many files of the organization wait to be read. */
export const requireReadingRoom = async ({ stored }: Pick<Http, "stored">, organization: string): Promise<void> =>
  checkUnread(await stored(organization));

/**
 * Throws 413 `storage_limit_reached` if the organization may not store this many more bytes. `param` is the field that holds them.
 * `isRead`: the file will be read. Throws 429 `too_many_unread_files` while too many others wait for that.
 */
export async function requireStorage(
  { stored, settings }: Needs,
  organization: string,
  { bytes, param, isRead = false }: { bytes: number; param: string; isRead?: boolean },
): Promise<void> {
  const before = await stored(organization);
  if (isRead) checkUnread(before);
  const limit = settings.ORGANIZATION_MEGABYTES;
  if (before.bytes + bytes <= limit * MEGABYTE) return;
  throw new ApiError(
    "storage_limit_reached",
    `${param} does not fit: an organization stores at most ${limit} MB of files, attachments, documents and scripts. Delete some first.`,
    { param },
  );
}

/** Throws 413 `storage_limit_reached` if the events of the organization, or the values of its runs, take more than they may. */
export function requireLogRoom({ logLimits }: LogNeeds, organization: string): void {
  const refusal = logLimits.refusal(organization);
  if (refusal) throw new ApiError(refusal.code, refusal.message);
}

/** Throws 413 `storage_limit_reached` if the events of the organization take 10 % more than they may. */
export function requireFinalLogRoom({ logLimits }: LogNeeds, organization: string): void {
  const refusal = logLimits.finalRefusal(organization);
  if (refusal) throw new ApiError(refusal.code, refusal.message);
}

/** Throws 413 `thread_too_large` if the thread may not store this many more bytes. */
export async function requireThreadStorage(
  { db, settings }: Pick<Http, "db" | "settings">,
  { organization_id, thread_id }: { organization_id: string; thread_id: string },
  bytes: number,
  param: string,
): Promise<void> {
  const limit = settings.THREAD_MEGABYTES;
  const fitsAlone = bytes <= limit * MEGABYTE;
  if (fitsAlone && (await threadBytes(db, organization_id, thread_id)) + bytes <= limit * MEGABYTE) return;
  const advice = fitsAlone ? "Start another thread." : "Send less at a time.";
  throw new ApiError(
    "thread_too_large",
    `${param} does not fit: a thread stores at most ${limit} MB of attachments and long messages. ${advice}`,
    { param },
  );
}
