import { listProviders, type ProviderRow } from "#projections/providers/query.ts";
import type { Db } from "#projections/projection.ts";
import { watchTable } from "#projections/tableChanges.ts";

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
  rows: ProviderRow[];
}

export function createProviders(db: Db): Providers {
  const cache = new Map<string, CachedProviders>();
  const changes = watchTable(db, "providers");
  const isCurrent = ({ at, rows }: CachedProviders): boolean =>
    performance.now() - at < MAX_AGE_MS || changes.isUnchanged(rows);

  async function readNow(organization: string): Promise<ProviderRow[]> {
    const rows = await changes.read(() => listProviders(db, organization));
    if (cache.size >= MAX_ORGANIZATIONS) cache.clear();
    cache.set(organization, { at: performance.now(), rows });
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
