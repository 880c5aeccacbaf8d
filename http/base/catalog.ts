import type { ProviderFormat } from "#events/provider.ts";

/* The port to the models that an organization may use. infra/models implements it. */

/** A provider credential of an organization, from its read model. */
export interface ProviderRow {
  name: string;
  /** Null: the default address of the provider. */
  base_url: string | null;
  /** Models that the organization named in addition to those that the provider lists. */
  models: string[] | null;
  /** Wire format of the provider's API. Absent: implied by the name. */
  format?: ProviderFormat;
  /** The model of an endpoint for embeddings or reranking; null or absent for a provider of chat models. */
  model?: string | null;
  /** The API key, sealed under the deployment's master key. */
  sealed_api_key: string;
}

export interface ModelInfo {
  /** `provider/model`. */
  id: string;
  /** Unix seconds; 0 when unknown. */
  created: number;
  owned_by: string;
  context_window?: number;
  max_output_tokens?: number;
  capabilities?: string[];
  /** The provider's list cannot be read, so only the provider knows whether it has the model. */
  isUnlisted?: true;
}

export interface Catalog {
  /** Lists every model of these credentials, of the deployment's own credentials and of the offline provider, sorted by id. */
  list(organization: string, providers: ProviderRow[]): Promise<ModelInfo[]>;
  /** Finds a model. Undefined if there is no such model, or no credential for it. */
  find(organization: string, providers: ProviderRow[], id: string): Promise<ModelInfo | undefined>;
}
