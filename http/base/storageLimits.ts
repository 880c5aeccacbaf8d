import { threadBytes } from "#projections/storedBytes.ts";
import type { Http } from "./deps.ts";
import { ApiError } from "./errors.ts";

type Needs = Pick<Http, "settings" | "storedBytes">;
export type LogNeeds = Pick<Http, "logLimits">;

const MEGABYTE = 1_000_000;

/** Throws 413 `storage_limit_reached` if the organization may not store this many more bytes. `param` is the field that holds them. */
export async function requireStorage(
  { storedBytes, settings }: Needs,
  organization: string,
  bytes: number,
  param: string,
): Promise<void> {
  const limit = settings.ORGANIZATION_MEGABYTES;
  if ((await storedBytes(organization)) + bytes <= limit * MEGABYTE) return;
  throw new ApiError(
    "storage_limit_reached",
    `${param} does not fit: an organization stores at most ${limit} MB of files, attachments and documents. Delete some first.`,
    { param },
  );
}

/** Throws 413 `storage_limit_reached` if the events of the organization take more than they may. */
export function requireLogRoom({ logLimits }: LogNeeds, organization: string): void {
  const refusal = logLimits.refusal(organization);
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
