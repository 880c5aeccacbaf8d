import type { Credential } from "#services/turns/model.ts";
import type { Send } from "./send.ts";

/** A model in a provider's own list; what the provider does not tell is absent. */
export interface ListedModel {
  id: string;
  /** Unix seconds; 0 where it is not told. */
  created: number;
  owned_by?: string;
  /** In tokens. */
  context_window?: number;
  max_output_tokens?: number;
  capabilities?: Capability[];
}
export type Capability = "image_input" | "pdf_input" | "reasoning" | "structured_outputs";

/** A provider's own list is cut here; the longest known ones have several hundred models. */
export const MAX_MODELS = 5_000;

/** Asks a provider which models it has. Throws what its SDK throws. */
export type ListModels = (credential: Credential, send: Send, signal: AbortSignal) => Promise<ListedModel[]>;
