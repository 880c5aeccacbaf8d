import { z } from "zod";
import { defineCommand, defineEvent, type CommandFrom, type EventFrom } from "./language.ts";
import { idFrom, streamOf } from "./ids.ts";

/** One provider credential per organization and name, so its id follows from both. */
export const providerStream = (organization: string, name: string): string =>
  streamOf("provider", idFrom("provider", organization, name));

const Settings = z.object({
  name: z.string(),
  /** Null: the provider's own address. */
  base_url: z.string().nullable(),
  /** Models named by the organization, beside those that the provider lists. */
  models: z.array(z.string()).nullable(),
  /** The API key, sealed under the deployment's master key by http before it is sent (base64). */
  sealed_api_key: z.string(),
});

export const ConfigureProvider = defineCommand("ConfigureProvider", "provider", Settings);
export const RemoveProvider = defineCommand("RemoveProvider", "provider", z.object({ name: z.string() }));

/** The sealed credential is public to the deciders' fold: without the master key it is noise. */
export const ProviderConfigured = defineEvent("ProviderConfigured", { public: Settings });
export const ProviderRemoved = defineEvent("ProviderRemoved", { public: z.object({ name: z.string() }) });

export type ProviderCommand = CommandFrom<typeof ConfigureProvider> | CommandFrom<typeof RemoveProvider>;
export type ProviderEvent = EventFrom<typeof ProviderConfigured> | EventFrom<typeof ProviderRemoved>;
