import { routeFrom, type Route } from "#events/route.ts";
import { getAlias, listAliases, type AliasRow } from "#projections/aliases/query.ts";
import type { Db } from "#projections/projection.ts";

/** How long this process may use an alias's old targets after another process has changed them. */
const MAX_AGE_MS = 2_000;
const MAX_ORGANIZATIONS = 10_000;

/** The aliases of models, cached by organization. */
export interface Aliases {
  list(organization: string): Promise<AliasRow[]>;
  /** Finds an alias in a cache that is at most two seconds old. A missing one is looked up again. */
  find(organization: string, name: string): Promise<AliasRow | undefined>;
  /** Returns the route for a new turn; undefined if there is no such alias. */
  route(organization: string, name: string): Promise<Route | undefined>;
  forget(organization: string): void;
}

/** `region`: the region of this process. */
export function createAliases(db: Db, region: string | undefined): Aliases {
  const cache = new Map<string, { at: number; rows: Promise<AliasRow[]> }>();

  function recent(organization: string): Promise<AliasRow[]> {
    const cached = cache.get(organization);
    if (cached && performance.now() - cached.at < MAX_AGE_MS) return cached.rows;
    if (cache.size >= MAX_ORGANIZATIONS) cache.clear();
    const entry = { at: performance.now(), rows: listAliases(db, organization) };
    cache.set(organization, entry);
    entry.rows.catch(() => cache.get(organization) === entry && cache.delete(organization));
    return entry.rows;
  }
  async function find(organization: string, name: string): Promise<AliasRow | undefined> {
    const rows = await recent(organization);
    return rows.find(({ alias }) => alias === name) ?? getAlias(db, organization, name);
  }
  return {
    list: (organization) => listAliases(db, organization),
    find,
    async route(organization, name) {
      const alias = await find(organization, name);
      return alias && routeFrom(alias, region);
    },
    forget: (organization) => void cache.delete(organization),
  };
}
