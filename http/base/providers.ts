import { listProviders, type ProviderRow } from "#projections/providers/query.ts";
import type { Db } from "#projections/projection.ts";

/** How long this process may offer a provider that another process has removed. Turns read the credential themselves. */
const MAX_AGE_MS = 2_000;
const MAX_ORGANIZATIONS = 10_000;

/** The provider credentials of an organization, for finding models. */
export interface Providers {
  /** Returns credentials that are at most two seconds old, so that requests share one query. */
  recent(organization: string): Promise<ProviderRow[]>;
  /** Returns current credentials, for requests that follow a change. */
  readNow(organization: string): Promise<ProviderRow[]>;
}

export function createProviders(db: Db): Providers {
  const cache = new Map<string, { at: number; rows: ProviderRow[] }>();

  async function readNow(organization: string): Promise<ProviderRow[]> {
    const rows = await listProviders(db, organization);
    if (cache.size >= MAX_ORGANIZATIONS) cache.clear();
    cache.set(organization, { at: performance.now(), rows });
    return rows;
  }
  return {
    readNow,
    async recent(organization) {
      const cached = cache.get(organization);
      return cached && performance.now() - cached.at < MAX_AGE_MS ? cached.rows : readNow(organization);
    },
  };
}
