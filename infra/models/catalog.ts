import { setTimeout as wait } from "node:timers/promises";
import { WEB_SEARCH } from "#events/provider.ts";
import type { Catalog, ModelInfo, ProviderRow } from "#http/catalog.ts";
import type { Credential } from "#services/turns/model.ts";
import { createListing, type Listing } from "./listing.ts";
import { offlineNames } from "./offline.ts";
import type { ListedModel } from "./listed.ts";
import { hasAddress } from "./provider.ts";
import { recent } from "./recent.ts";
import { openTransport } from "./send.ts";

/** Lists of so many credentials are kept. */
const KEPT_LISTS = 1_000;

interface CatalogOptions {
  offline: boolean;
  /** Credentials of the whole deployment; an organization's own of the same name wins. */
  deployment: Credential[];
  /** The secret behind a `sealed_api_key`; may throw. */
  unseal: (organization: string, provider: string, sealed: string) => string;
  privateHosts: string[];
}

interface Provider {
  name: string;
  /** Named by the organization; they need not be in the provider's list. */
  configured: string[];
  listing: Listing;
}

/** Names under which no organization has models. */
const NO_MODELS = new Set(["offline", WEB_SEARCH]);

const offlineModels: ModelInfo[] = offlineNames.map((name) => ({
  id: `offline/${name}`,
  created: 0,
  owned_by: "offline",
}));

const splitId = (id: string): [provider: string, model: string] => {
  const slash = id.indexOf("/");
  return slash === -1 ? [id, ""] : [id.slice(0, slash), id.slice(slash + 1)];
};

/** The models of every provider that there is a credential for: what they list themselves (kept for 5 minutes) and what was configured. */
export function openCatalog({ offline, deployment, unseal, privateHosts }: CatalogOptions): Catalog {
  const transport = openTransport({ privateHosts });
  const listings = recent<Listing>(KEPT_LISTS);
  const listingOf = (open: () => Credential, name: string, ...key: (string | null)[]) =>
    listings(JSON.stringify([name, ...key]), () => createListing(name, open, transport));

  const ownProvider = (organization: string, row: ProviderRow): Provider => {
    const { name, base_url, sealed_api_key } = row;
    const credential = () => ({
      provider: name,
      base_url,
      api_key: unseal(organization, name, sealed_api_key),
      guarded: base_url !== null,
    });
    const listing = listingOf(credential, name, organization, base_url, sealed_api_key);
    return { name, configured: row.models ?? [], listing };
  };
  const sharedProvider = (credential: Credential): Provider => {
    const { provider, base_url, api_key } = credential;
    return { name: provider, configured: [], listing: listingOf(() => credential, provider, base_url, api_key) };
  };
  const providersOf = (organization: string, rows: ProviderRow[]): Map<string, Provider> =>
    new Map([
      ...deployment.map((credential) => [credential.provider, sharedProvider(credential)] as const),
      ...rows
        .filter(({ name, base_url }) => !NO_MODELS.has(name) && hasAddress({ provider: name, base_url }))
        .map((row) => [row.name, ownProvider(organization, row)] as const),
    ]);

  return {
    async list(organization, rows) {
      const providers = [...providersOf(organization, rows).values()];
      const lists = await gathered(providers.map(({ listing }) => listing.soon()));
      const models = providers.map((provider, n) => modelsOf(provider, lists[n] ?? []));
      return [...(offline ? offlineModels : []), ...models.flat()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
    },
    async find(organization, rows, id) {
      const [name, model] = splitId(id);
      if (name === "offline") return offline ? offlineModels.find((info) => info.id === id) : undefined;
      const provider = providersOf(organization, rows).get(name);
      return provider && model !== "" ? findIn(provider, model) : undefined;
    },
  };
}

const configuredInfo = (name: string, model: string): ModelInfo => ({
  id: `${name}/${model}`,
  created: 0,
  owned_by: name,
});
const listedInfo = (name: string, { id, owned_by = name, ...told }: ListedModel): ModelInfo => ({
  id: `${name}/${id}`,
  owned_by,
  ...told,
});

/** Lists as they come: whoever is slower than the first by so much is left out until it has answered. */
const GRACE_MS = 500;

async function gathered<T>(lists: Promise<T>[]): Promise<(T | undefined)[]> {
  const late = Promise.race(lists).then(() => wait(GRACE_MS, undefined, { ref: false }));
  return Promise.all(lists.map((list) => Promise.race([list, late])));
}

function modelsOf({ name, configured }: Provider, own: ListedModel[]): ModelInfo[] {
  const named = new Set(configured);
  return [
    ...[...named].map((model) => configuredInfo(name, model)),
    ...own.filter(({ id }) => !named.has(id)).map((model) => listedInfo(name, model)),
  ];
}

/** A provider whose list cannot be had decides itself about a model that it may know. */
async function findIn({ name, configured, listing }: Provider, model: string): Promise<ModelInfo | undefined> {
  if (configured.includes(model)) return configuredInfo(name, model);
  const find = (list: ListedModel[]) => list.find(({ id }) => id === model);
  const soon = await listing.soon();
  const known = soon && find(soon);
  if (known) return listedInfo(name, known);
  const current = await listing.current();
  if (!current) return configuredInfo(name, model);
  const found = find(current);
  return found && listedInfo(name, found);
}
