import { setTimeout as wait } from "node:timers/promises";
import { WEB_SEARCH } from "#events/provider.ts";
import { mapInSlices } from "#events/slices.ts";
import type { Catalog, ModelInfo, ProviderRow } from "#http/base/catalog.ts";
import type { Credential } from "#services/turns/model.ts";
import { lruCache } from "./lruCache.ts";
import { compareIds, type ListedModel } from "./modelList.ts";
import { modelListCache, type ModelListCache } from "./modelListCache.ts";
import { offlineNames } from "./offline.ts";
import { hasAddress } from "./providerAddress.ts";
import { openTransport } from "./send.ts";

/** Maximum cached lists, one per provider. */
const MAX_LISTS = 500;
/** Maximum models in one response. */
const MAX_SHOWN = 10_000;
/** Maximum providers whose lists a response waits for at the same time: reading 50 lists of 5,000 models took 4 s of processor time. */
const ASKED_AT_ONCE = 8;

interface CatalogOptions {
  offline: boolean;
  /** Credentials of the whole deployment. An organization's own of the same name takes precedence. */
  deployment: Credential[];
  /** Decrypts a `sealed_api_key`; may throw. */
  unseal: (organization: string, provider: string, sealed: string) => string;
  privateHosts: string[];
}

interface Provider {
  name: string;
  /** Models that the organization configured, whether or not the provider lists them. */
  configured: string[];
  listed: ModelListCache;
}

/** Names of providers without models of an organization. */
const NO_MODELS = new Set(["offline", WEB_SEARCH]);

const offlineModels: ModelInfo[] = offlineNames
  .map((name) => ({ id: `offline/${name}`, created: 0, owned_by: "offline" }))
  .toSorted(compareIds);

const splitId = (id: string): [provider: string, model: string] => {
  const slash = id.indexOf("/");
  return slash === -1 ? [id, ""] : [id.slice(0, slash), id.slice(slash + 1)];
};

/** The models of all providers with a credential: those they list (cached for 5 minutes) and those configured. */
export function openCatalog(options: CatalogOptions): Catalog {
  const { offline } = options;
  const providersOf = createProviders(options);
  return {
    async list(organization, rows) {
      const merged = await mergeProviders([...providersOf(organization, rows).values()]);
      const own = offline ? [{ id: "offline/", models: offlineModels }] : [];
      // the parts are sorted already, so only the parts are put in order: sorting 10,000 names per request would delay everybody
      return [...own, ...merged].toSorted(compareIds).flatMap(({ models }) => models);
    },
    async find(organization, rows, id) {
      const [name, model] = splitId(id);
      if (name === "offline") return offline ? offlineModels.find((info) => info.id === id) : undefined;
      const provider = providersOf(organization, rows).get(name);
      return provider && model !== "" ? findModel(provider, model) : undefined;
    },
  };
}

/** Creates a function that returns an organization's providers by name, with their cached lists. */
function createProviders({ deployment, unseal, privateHosts }: CatalogOptions) {
  const transport = openTransport({ privateHosts });
  const lists = lruCache<{ settings?: string; list?: ModelListCache }>(MAX_LISTS);
  /** One list per owner's provider name. Other settings replace it, so that changing them does not fill the memory. */
  function listFor(openCredential: () => Credential, owner: string, name: string, ...more: (string | null)[]) {
    const settings = JSON.stringify(more);
    const entry = lists(JSON.stringify([owner, name]), () => ({}));
    if (entry.settings !== settings || !entry.list)
      Object.assign(entry, { settings, list: modelListCache(openCredential, transport) });
    return entry.list!;
  }

  const ownProvider = (organization: string, row: ProviderRow): Provider => {
    const { name, base_url, sealed_api_key, models, format } = row;
    const openCredential = () => ({
      provider: name,
      base_url,
      api_key: unseal(organization, name, sealed_api_key),
      guarded: base_url !== null,
      ...(format && { format }),
    });
    return {
      name,
      configured: models ?? [],
      listed: listFor(openCredential, organization, name, base_url, sealed_api_key, format ?? null),
    };
  };
  const sharedProvider = (credential: Credential): Provider => {
    const { provider, base_url, api_key } = credential;
    return { name: provider, configured: [], listed: listFor(() => credential, "", provider, base_url, api_key) };
  };
  return (organization: string, rows: ProviderRow[]): Map<string, Provider> =>
    new Map([
      ...deployment.map((credential) => [credential.provider, sharedProvider(credential)] as const),
      ...rows
        .filter(({ name, ...row }) => !NO_MODELS.has(name) && !row.model && hasAddress({ ...row, provider: name }))
        .map((row) => [row.name, ownProvider(organization, row)] as const),
    ]);
}

const configuredInfo = (name: string, model: string): ModelInfo => ({
  id: `${name}/${model}`,
  created: 0,
  owned_by: name,
});
const listedInfo = (name: string, { id, owned_by = name, ...details }: ListedModel): ModelInfo => ({
  id: `${name}/${id}`,
  owned_by,
  ...details,
});

/** How long a response waits for slower providers after the first one has answered. */
const GRACE_MS = 500;

/** The results; undefined for each that comes more than GRACE_MS after `since`. */
async function resolvedSoon<T>(results: Promise<T>[], since: Promise<unknown>): Promise<(T | undefined)[]> {
  const deadline = since.then(() => wait(GRACE_MS, undefined, { ref: false }));
  return Promise.all(results.map((result) => Promise.race([result, deadline])));
}

/** The models of providers in their order. Once a response is full, the lists of the rest are not fetched: nobody would see them. */
async function mergeProviders(providers: Provider[]): Promise<{ id: string; models: ModelInfo[] }[]> {
  const merged: { id: string; models: ModelInfo[] }[] = [];
  let room = MAX_SHOWN;
  for (let first = 0; first < providers.length && room > 0; first += ASKED_AT_ONCE) {
    const slice = providers.slice(first, first + ASKED_AT_ONCE);
    const lists = slice.map(({ listed }) => listed.get());
    // only the first ones may take the whole time of a fetch, so that many dead providers take little longer than one
    const found = await resolvedSoon(lists, first === 0 ? Promise.race(lists) : Promise.resolve());
    const parts = await mapInSlices([...slice.entries()], ([n, provider]) => {
      const models = room > 0 ? mergeModels(provider, found[n] ?? [], room) : [];
      room -= models.length;
      return { id: `${provider.name}/`, models };
    });
    merged.push(...parts);
  }
  return merged;
}

/** Configured and listed models, without duplicates, sorted by id, at most `room`. */
function mergeModels({ name, configured }: Provider, listed: ListedModel[], room: number): ModelInfo[] {
  const configuredNames = new Set(configured);
  const named = [...configuredNames].slice(0, room).map((model) => configuredInfo(name, model));
  const others = listed.filter(({ id }) => !configuredNames.has(id)).slice(0, room - named.length);
  const shown = others.map((model) => listedInfo(name, model));
  return named.length === 0 ? shown : [...named, ...shown].toSorted(compareIds);
}

/** Finds a model. If the provider's list is not available, any name passes: the provider itself will decide. */
async function findModel({ name, configured, listed }: Provider, model: string): Promise<ModelInfo | undefined> {
  if (configured.includes(model)) return configuredInfo(name, model);
  const find = (list: ListedModel[] | undefined) => list?.find(({ id }) => id === model);
  const cached = find(await listed.get());
  if (cached) return listedInfo(name, cached);
  const fresh = await listed.getFresh();
  if (!fresh) return { ...configuredInfo(name, model), isUnlisted: true };
  const found = find(fresh);
  return found && listedInfo(name, found);
}
