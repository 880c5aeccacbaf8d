import { formatOf, type ProviderFormat } from "#events/provider.ts";
import { ModelError, type Credential, type Model } from "#services/turns/model.ts";
import { abortError } from "./abortError.ts";
import * as anthropic from "./anthropic/provider.ts";
import { listModels as listAnthropic } from "./anthropic/list.ts";
import * as google from "./google/provider.ts";
import { listModels as listGoogle } from "./google/list.ts";
import type { ListModels } from "./modelList.ts";
import type { OpenProvider } from "./providerApi.ts";
import * as openai from "./openai/provider.ts";
import { listModels as listOpenai } from "./openai/list.ts";
import type { RequestSender } from "./send.ts";
import { interruptedError } from "./wire/errors.ts";

interface Connector {
  model(credential: Credential, send: RequestSender): Model;
  listModels: ListModels;
}

const connector = (open: OpenProvider, listModels: ListModels): Connector => ({
  listModels,
  model(credential, send) {
    const complete = open(credential, send);
    return {
      async *complete(request, signal) {
        try {
          yield* complete(request, signal);
        } catch (error) {
          if (signal.aborted) throw abortError(signal);
          throw error instanceof ModelError ? error : interruptedError(error);
        }
      },
    };
  },
});

const CONNECTORS: Record<ProviderFormat, Connector> = {
  openai: connector(openai.open, listOpenai),
  anthropic: connector(anthropic.open, listAnthropic),
  google: connector(google.open, listGoogle),
};

export const connectorFor = (credential: Pick<Credential, "provider" | "format">): Connector =>
  CONNECTORS[formatOf(credential)];
