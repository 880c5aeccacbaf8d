import { batchLookups } from "#infra/postgres/batchLookups.ts";
import type { Db } from "#projections/projection.ts";
import { storedFiles, type StoredFiles } from "#projections/storedFiles.ts";

/** What an organization has stored. Concurrent uploads share the query, which adds up many rows. */
export type ReadStored = (organization: string) => Promise<StoredFiles>;

export function openStored(db: Db): ReadStored {
  const find = batchLookups<StoredFiles>((organizations) => storedFiles(db, organizations));
  return async (organization) => (await find([organization])).get(organization) ?? { bytes: 0, unread: 0 };
}
