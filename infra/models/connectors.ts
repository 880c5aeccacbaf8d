import { formatOf, type ProviderFormat } from "#events/provider.ts";
import type { Credential, Model } from "#services/turns/model.ts";
import { abortError } from "./abort.ts";
import type { ListModels } from "./modelList.ts";
import type { ProviderApi } from "./providerApi.ts";
import type { RequestSender } from "./send.ts";

interface Connector {
  model(credential: Credential, send: RequestSender): Model;
  list(): Promise<{ listModels: ListModels }>;
}

/** An SDK takes 0.1 to 0.4 s to load, so it loads with the first request; the promise is kept because even a repeated import() costs time. */
function lazyModel(load: () => Promise<ProviderApi>): Connector["model"] {
  let loading: Promise<ProviderApi> | undefined;
  return (credential, send) => {
    let complete: ReturnType<ProviderApi["open"]> | undefined;
    return {
      async *complete(request, signal) {
        const { open, modelError } = await (loading ??= load());
        try {
          complete ??= open(credential, send);
          yield* complete(request, signal);
        } catch (error) {
          throw signal.aborted ? abortError(signal) : modelError(error, credential.api_key);
        }
      },
    };
  };
}

const CONNECTORS: Record<ProviderFormat, Connector> = {
  openai: { model: lazyModel(() => import("./openai/provider.ts")), list: () => import("./openai/list.ts") },
  anthropic: { model: lazyModel(() => import("./anthropic/provider.ts")), list: () => import("./anthropic/list.ts") },
  google: { model: lazyModel(() => import("./google/provider.ts")), list: () => import("./google/list.ts") },
};

export const connectorFor = (credential: Pick<Credential, "provider" | "format">): Connector =>
  CONNECTORS[formatOf(credential)];
