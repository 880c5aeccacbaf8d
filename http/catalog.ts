/* The port to the models that an organization may use; infra/models implements it. */

/** A provider credential of an organization, as its read model holds it. */
export interface ProviderRow {
  name: string;
  /** Null: the provider's own address. */
  base_url: string | null;
  /** Models that the organization named beside those that the provider lists. */
  models: string[] | null;
  /** The API key, sealed under the deployment's master key. */
  sealed_api_key: string;
}

export interface ModelInfo {
  /** `provider/model`. */
  id: string;
  /** Unix seconds; 0 when the provider does not say. */
  created: number;
  owned_by: string;
  context_window?: number;
  max_output_tokens?: number;
  capabilities?: string[];
}

export interface Catalog {
  /** Every model usable with these credentials, the deployment's own and the offline ones, by id. */
  list(organization: string, providers: ProviderRow[]): Promise<ModelInfo[]>;
  /** The model behind `provider/model`, or undefined when there is none or no credential for it. */
  find(organization: string, providers: ProviderRow[], id: string): Promise<ModelInfo | undefined>;
}
