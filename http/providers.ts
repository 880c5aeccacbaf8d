import { listProviders, type ProviderRow } from "#projections/providers/query.ts";
import type { Db } from "#projections/projection.ts";

/** So long may a provider that another process removed still be offered; the turn itself reads its credential anew. */
const KEEP_MS = 2_000;
const MOST = 10_000;

/** An organization's provider credentials for finding models: one query every two seconds, not one per request. */
export interface Providers {
  recent(organization: string): Promise<ProviderRow[]>;
  fresh(organization: string): Promise<ProviderRow[]>;
}

export function createProviders(db: Db): Providers {
  const kept = new Map<string, { at: number; rows: ProviderRow[] }>();

  async function fresh(organization: string): Promise<ProviderRow[]> {
    const rows = await listProviders(db, organization);
    if (kept.size >= MOST) kept.clear();
    kept.set(organization, { at: Date.now(), rows });
    return rows;
  }
  return {
    fresh,
    async recent(organization) {
      const found = kept.get(organization);
      return found && Date.now() - found.at < KEEP_MS ? found.rows : fresh(organization);
    },
  };
}
