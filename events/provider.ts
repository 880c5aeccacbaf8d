import { z } from "zod";
import { defineCommand, defineEvent, type CommandsIn, type EventsIn } from "./language.ts";
import { deriveId, streamName } from "./ids.ts";

/** Name of the credential for web search, which has an endpoint and no models. */
export const WEB_SEARCH = "web_search";
/** Names of the endpoints that search asks: one turns texts into vectors, one ranks passages again (ADR 60). */
export const EMBEDDINGS = "embeddings";
export const RERANKING = "reranking";
/** Whether a provider is one endpoint of search, with the one model that its settings name. */
export const isSearchEndpoint = (name: string): boolean => name === EMBEDDINGS || name === RERANKING;

/** An organization has one provider credential per name, so the id is derived from both. */
export const providerStream = (organization: string, name: string): string =>
  streamName("provider", deriveId("provider", organization, name));

/** The APIs that providers have. */
export const ProviderFormat = z.enum(["openai", "anthropic", "google"]);
export type ProviderFormat = z.infer<typeof ProviderFormat>;

/** Whether a provider of this name is an API itself, which has a default address. Any other needs an address or a format. */
export const isKnownApi = (name: string): boolean => ProviderFormat.options.some((format) => format === name);

/** A provider that is named like an API has that one; any other has OpenAI's, unless its settings say otherwise. */
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
  /** Tokens that models read and write in one request, by the model's name; absent: those that are known. */
  context_windows: z.record(z.string(), z.number().int()).optional(),
  /** Of an endpoint of search: its model; and for embeddings, the numbers of a vector. */
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
