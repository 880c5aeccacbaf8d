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

/** Models read of one provider's list; the longest known lists have several hundred. */
export const MAX_MODELS = 5_000;
/** Characters of their names that are kept, of one list: hundreds of lists are in memory at once. */
const MAX_CHARACTERS = 200_000;

export const compareIds = (a: { id: string }, b: { id: string }): number => (a.id < b.id ? -1 : 1);

/** The first models of a list, which are kept in memory, in the order of their ids. */
export function shortenList(models: ListedModel[]): ListedModel[] {
  let left = MAX_CHARACTERS;
  return models
    .slice(0, MAX_MODELS)
    .filter(({ id, owned_by = "" }) => (left -= id.length + owned_by.length) >= 0)
    .toSorted(compareIds);
}

/** Fetches the list of a provider's models. Throws ModelErrors, and what the network and the parsers throw. */
export type ListModels = (credential: Credential, send: RequestSender, signal: AbortSignal) => Promise<ListedModel[]>;
