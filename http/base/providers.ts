import { listProviders, type ProviderRow } from "#projections/providers/query.ts";
import type { Db } from "#projections/projection.ts";
import { createTableVersion } from "#projections/tableVersion.ts";

/**
 * How long this process may offer a provider that another process has removed, if it does not know whether one has changed since.
 * Turns read the credential themselves.
 */
const MAX_AGE_MS = 2_000;
const MAX_ORGANIZATIONS = 10_000;

/** The provider credentials of an organization, for finding models. */
export interface Providers {
  /** Returns credentials as of two seconds ago or later, so that requests share one query. */
  recent(organization: string): Promise<ProviderRow[]>;
  /** Returns current credentials, for requests that follow a change. */
  readNow(organization: string): Promise<ProviderRow[]>;
}

interface CachedProviders {
  at: number;
  /** The version of the table before the rows were read. */
  version: string | undefined;
  rows: ProviderRow[];
}

export function createProviders(db: Db): Providers {
  const cache = new Map<string, CachedProviders>();
  const version = createTableVersion(db, "providers");
  const isCurrent = (cached: CachedProviders): boolean =>
    performance.now() - cached.at < MAX_AGE_MS || (cached.version !== undefined && cached.version === version());

  async function readNow(organization: string): Promise<ProviderRow[]> {
    const before = version();
    const rows = await listProviders(db, organization);
    if (cache.size >= MAX_ORGANIZATIONS) cache.clear();
    cache.set(organization, { at: performance.now(), version: before, rows });
    return rows;
  }
  return {
    readNow,
    async recent(organization) {
      const cached = cache.get(organization);
      return cached && isCurrent(cached) ? cached.rows : readNow(organization);
    },
  };
}
