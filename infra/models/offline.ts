import { ModelError, type Model } from "#services/turns/model.ts";
import { abortError } from "./abortError.ts";
import { echo } from "./offline/echo.ts";
import { extractive } from "./offline/extractive.ts";
import { scripted } from "./offline/scripted.ts";

const MODELS: Record<string, Model> = { echo, extractive, scripted };

/** Models that answer without a provider, such as `offline/echo`. None of them pretends to be a language model. */
export const offlineNames: readonly string[] = Object.keys(MODELS);

/** All offline models; the request names one. */
export const offlineModel: Model = {
  async *complete(request, signal) {
    const model = Object.hasOwn(MODELS, request.model) ? MODELS[request.model] : undefined;
    if (!model) throw new ModelError("refused", `There is no model offline/${request.model}.`, { status: 404 });
    try {
      for await (const event of model.complete(request, signal)) {
        signal.throwIfAborted();
        yield event;
      }
    } catch (error) {
      throw signal.aborted ? abortError(signal) : error;
    }
  },
};
