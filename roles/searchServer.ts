import { indexKey, searchKey } from "#infra/meilisearch/limitedKey.ts";
import type { ServerAddress } from "#infra/meilisearch/server.ts";
import type { Resources } from "./resources.ts";

/**
 * The search server for one kind of work. The master key is only used to create a key that is limited to the passage indexes of
 * this deployment. With MEILI_API_KEY, the operator has created one.
 */
export function searchServer(
  { settings, addresses }: Pick<Resources, "settings" | "addresses">,
  work: "search" | "index",
): ServerAddress {
  const make = work === "search" ? searchKey : indexKey;
  return {
    url: addresses.meili_url,
    key: settings.MEILI_API_KEY ?? make({ masterKey: addresses.meili_master_key, prefix: settings.BUS_PREFIX }),
  };
}
