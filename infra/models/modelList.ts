import type { Credential } from "#services/turns/model.ts";
import type { RequestSender } from "./send.ts";

/** A model in a provider's own list. Fields that the provider does not publish are absent. */
export interface ListedModel {
  id: string;
  /** Unix seconds; 0 if unknown. */
  created: number;
  owned_by?: string;
  /** In tokens. */
  context_window?: number;
  /** In tokens. */
  max_output_tokens?: number;
  capabilities?: Capability[];
}
export type Capability = "image_input" | "pdf_input" | "reasoning" | "structured_outputs";

/** Maximum models read of a provider's list; the longest known lists have several hundred. */
export const MAX_MODELS = 5_000;
/** Maximum characters of names kept per list, because hundreds of lists are in memory. */
const MAX_CHARACTERS = 200_000;

export const compareIds = (a: { id: string }, b: { id: string }): number => (a.id < b.id ? -1 : 1);

/** The models of a list that are kept in memory: the first ones, sorted by id. */
export function shortenList(models: ListedModel[]): ListedModel[] {
  let left = MAX_CHARACTERS;
  return models
    .slice(0, MAX_MODELS)
    .filter(({ id, owned_by = "" }) => (left -= id.length + owned_by.length) >= 0)
    .toSorted(compareIds);
}

/** Fetches a provider's list of models. Throws ModelErrors, and errors of the network and the parsers. */
export type ListModels = (credential: Credential, send: RequestSender, signal: AbortSignal) => Promise<ListedModel[]>;
