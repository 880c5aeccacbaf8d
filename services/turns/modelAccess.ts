import { currentTime } from "#events/clock.ts";
import { findContextWindow } from "#events/contextWindows.ts";
import { defaultPrice } from "#events/defaultPrices.ts";
import { priceAt, priceStream, type ModelPrice } from "#events/price.ts";
import { formatOf, providerStream } from "#events/provider.ts";
import type { Route } from "#events/route.ts";
import type { EventLog, StreamHead } from "#events/ports.ts";
import type { Keyring } from "#events/vault.ts";
import { price as priceDecider } from "../deciders/price.ts";
import { provider as providerDecider, type ProviderState } from "../deciders/provider.ts";
import { findHead, readState } from "../states.ts";
import { ModelError, type Credential } from "./model.ts";
import { providerOf } from "./threadMessage.ts";

export interface CredentialSources {
  log: Pick<EventLog, "heads" | "read">;
  keyring: Pick<Keyring, "openSecret">;
  /** The deployment's own. */
  deployment: Credential[];
  offline: boolean;
}

export interface ModelAccess {
  credential: Credential;
  /** Undefined: the price of the model is unknown. */
  price: ModelPrice | undefined;
  /** The model's context window in tokens; undefined if unknown. */
  window: number | undefined;
}

/**
 * The credential for a provider: the organization's own, else the deployment's. Reads the log every time, so that a removed
 * credential stops working at once. Throws a ModelError if there is none.
 */
export async function findCredential(
  from: CredentialSources,
  organization: string,
  provider: string,
): Promise<Credential> {
  const stream = providerStream(organization, provider);
  return readCredential(from, organization, provider, await findHead(from.log, stream));
}

/** The credential for a model's provider, and the price that is valid now, in one look-up. Throws ModelError. */
export async function findModelAccess(
  from: CredentialSources,
  organization: string,
  model: string,
): Promise<ModelAccess> {
  const provider = providerOf(model);
  const [credentials, prices] = [providerStream(organization, provider), priceStream(organization, model)];
  const heads = await from.log.heads([credentials, prices]);
  const credential = await readCredential(from, organization, provider, heads.get(credentials));
  const own = await readOwnPrices(from, heads.get(prices));
  // published prices apply to the provider's own address only
  const published = credential.base_url === null ? defaultPrice(publishedName(credential, model)) : undefined;
  return {
    credential,
    price: priceAt(own, currentTime()) ?? published,
    window: windowOf(credential, model),
  };
}

/**
 * The window that a thread must fit into: the smallest known one of the targets; or the largest if the route passes requests that
 * are too long to the next target.
 */
export async function findRouteWindow(
  from: CredentialSources,
  organization: string,
  { targets, on }: Pick<Route, "targets" | "on">,
): Promise<number | undefined> {
  const known = await findWindows(from, organization, targets);
  if (known.length === 0) return undefined;
  return on.includes("context_length") ? Math.max(...known) : Math.min(...known);
}

/** The known windows of several models, in one look-up; a model without a credential has none. */
async function findWindows(
  from: CredentialSources,
  organization: string,
  models: readonly string[],
): Promise<number[]> {
  const streams = new Map(models.map((model) => [model, providerStream(organization, providerOf(model))]));
  const heads = await from.log.heads([...new Set(streams.values())]);
  const windows = await Promise.all(
    models.map(async (model) => {
      const head = heads.get(streams.get(model)!);
      const credential = await readCredential(from, organization, providerOf(model), head).catch(() => undefined);
      return credential && windowOf(credential, model);
    }),
  );
  return windows.filter((tokens) => tokens !== undefined);
}

const windowOf = (credential: Credential, model: string): number | undefined =>
  credential.context_windows?.[model.slice(credential.provider.length + 1)] ??
  findContextWindow(publishedName(credential, model));

/** The provider's own name of the model, whatever the organization calls the provider. */
const publishedName = (credential: Credential, model: string): string =>
  `${formatOf(credential)}${model.slice(credential.provider.length)}`;

async function readOwnPrices({ log }: CredentialSources, head: StreamHead | undefined): Promise<ModelPrice[]> {
  return head ? (await readState(log, head, priceDecider)).state.prices : [];
}

async function readCredential(
  { log, keyring, deployment, offline }: CredentialSources,
  organization: string,
  provider: string,
  head: StreamHead | undefined,
): Promise<Credential> {
  if (provider === "offline" && offline) return { provider, api_key: "", base_url: null, guarded: false };
  const state: ProviderState = head ? (await readState(log, head, providerDecider)).state : providerDecider.initial;
  if (state.status === "configured") {
    const api_key = keyring.openSecret(`provider:${organization}:${provider}`, state.sealed_api_key);
    const { base_url, format, context_windows } = state;
    return {
      provider,
      api_key,
      base_url,
      guarded: base_url !== null,
      ...(format && { format }),
      ...(context_windows && { context_windows }),
    };
  }
  const own = deployment.find((credential) => credential.provider === provider);
  if (!own) throw new ModelError("refused", `No credential for the provider ${provider}.`, { status: 404 });
  return own;
}
