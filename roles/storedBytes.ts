import { batchLookups } from "#infra/postgres/batchLookups.ts";
import type { Db } from "#projections/projection.ts";
import { organizationBytes } from "#projections/storedBytes.ts";

/** The bytes that an organization stores. Concurrent uploads share the query, which adds up many rows. */
export type StoredBytes = (organization: string) => Promise<number>;

export function openStoredBytes(db: Db): StoredBytes {
  const bytes = batchLookups<number>((organizations) => organizationBytes(db, organizations));
  return async (organization) => (await bytes([organization])).get(organization) ?? 0;
}
