import { z } from "zod";
import { defineCommand, defineEvent, type CommandsIn, type EventsIn } from "./language.ts";
import { deriveId, streamName } from "./ids.ts";

/** Name of the credential for web search, which has an endpoint and no models. */
export const WEB_SEARCH = "web_search";
/** Names of the search endpoints: one turns texts into vectors, one reranks passages (ADR 60). */
export const EMBEDDINGS = "embeddings";
export const RERANKING = "reranking";
/** Whether the name is that of a search endpoint, which has exactly one model, named in its settings. */
export const isSearchEndpoint = (name: string): boolean => name === EMBEDDINGS || name === RERANKING;

/** An organization has one provider credential per name, so the id is derived from both. */
export const providerStream = (organization: string, name: string): string =>
  streamName("provider", deriveId("provider", organization, name));

export const ProviderFormat = z.enum(["openai", "anthropic", "google"]);
export type ProviderFormat = z.infer<typeof ProviderFormat>;

/** Whether the name is that of a known API, which has a default address. Any other provider needs an address or a format. */
export const isKnownApi = (name: string): boolean => ProviderFormat.options.some((format) => format === name);

/** The provider's API format. A provider named like an API uses that API; any other uses OpenAI's unless its settings name a format. */
export const formatOf = ({
  provider,
  format,
}: {
  provider: string;
  format?: ProviderFormat | undefined;
}): ProviderFormat => format ?? ProviderFormat.options.find((name) => name === provider) ?? "openai";

const Settings = z.object({
  name: z.string(),
  /** Every configuration has its own data key, which is destroyed when it is replaced or removed. */
  credential_id: z.uuid(),
  /** Null: the provider's default address. */
  base_url: z.string().nullable(),
  /** Models that the organization adds to those the provider lists. */
  models: z.array(z.string()).nullable(),
  /** Absent: see `formatOf`. */
  format: ProviderFormat.optional(),
  /** Context windows in tokens, by model name; absent: the published ones. */
  context_windows: z.record(z.string(), z.number().int()).optional(),
  /** For a search endpoint: its model, and for embeddings the dimensions of a vector. */
  model: z.string().optional(),
  dimensions: z.int().positive().optional(),
});
/** The API key (base64), sealed with the deployment's master key before http sends the command. */
const Secret = z.object({ sealed_api_key: z.string() });
/** The credential that this event destroys. */
const EndedCredential = z.object({ ends_credential_id: z.uuid().nullable() });

export const ConfigureProvider = defineCommand("ConfigureProvider", "provider", Settings.extend(Secret.shape));
export const RemoveProvider = defineCommand("RemoveProvider", "provider", z.object({ name: z.string() }));

export const ProviderConfigured = defineEvent("ProviderConfigured", {
  public: Settings.extend(EndedCredential.shape),
  personal: Secret,
  thing: (data) => streamName("credential", data.credential_id),
  opens: true,
});
export const ProviderRemoved = defineEvent("ProviderRemoved", { public: EndedCredential.extend({ name: z.string() }) });

export type ProviderCommand = CommandsIn<typeof import("./provider.ts")>;
export type ProviderEvent = EventsIn<typeof import("./provider.ts")>;
