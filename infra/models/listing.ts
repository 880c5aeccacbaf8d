import type { Credential } from "#services/turns/model.ts";
import type { ListedModel } from "./openai/list.ts";
import type { Send } from "./send.ts";

/** A list stays good for so long; one that could not be had is asked for again sooner. */
const FRESH_MS = 5 * 60_000;
const RETRY_MS = 30_000;
/** A provider that takes longer is treated as one that cannot be reached. */
const LIMIT_MS = 3_000;

/**
 * A provider's own list of models, asked for once at a time and kept.
 * When it cannot be had the last one stays in force; undefined when there never was one. Never throws, takes 3 s at most.
 */
export type Listing = (credential: () => Credential) => Promise<ListedModel[] | undefined>;

export function createListing(transport: (credential: Credential) => Send, now = Date.now): Listing {
  let models: ListedModel[] | undefined;
  let due = Number.NEGATIVE_INFINITY;
  let asking: Promise<void> | undefined;

  const ask = async (open: () => Credential) => {
    try {
      const { listModels } = await import("./openai/list.ts");
      const credential = open();
      models = await listModels(credential, transport(credential), AbortSignal.timeout(LIMIT_MS));
      due = now() + FRESH_MS;
    } catch {
      due = now() + RETRY_MS;
    }
  };
  return async (credential) => {
    if (now() >= due) await (asking ??= ask(credential).finally(() => (asking = undefined)));
    return models;
  };
}
