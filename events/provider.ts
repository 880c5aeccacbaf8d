import { z } from "zod";
import { defineCommand, defineEvent, type CommandFrom, type EventFrom } from "./language.ts";
import { idFrom, streamOf } from "./ids.ts";

/** Name of the credential for searching the web: an endpoint, and no models. */
export const WEB_SEARCH = "web_search";

/** One provider credential per organization and name, so its id follows from both. */
export const providerStream = (organization: string, name: string): string =>
  streamOf("provider", idFrom("provider", organization, name));

const Settings = z.object({
  name: z.string(),
  /** Each setting is a thing of its own, with a data key that ends when it is replaced or removed. */
  credential_id: z.uuid(),
  /** Null: the provider's own address. */
  base_url: z.string().nullable(),
  /** Models named by the organization, beside those that the provider lists. */
  models: z.array(z.string()).nullable(),
});
/** The API key, sealed under the deployment's master key by http before it is sent (base64). */
const Secret = z.object({ sealed_api_key: z.string() });
/** The credential that ends with this event. */
const Ends = z.object({ ends_credential_id: z.uuid().nullable() });

export const ConfigureProvider = defineCommand("ConfigureProvider", "provider", Settings.extend(Secret.shape));
export const RemoveProvider = defineCommand("RemoveProvider", "provider", z.object({ name: z.string() }));

export const ProviderConfigured = defineEvent("ProviderConfigured", {
  public: Settings.extend(Ends.shape),
  personal: Secret,
  thing: (data) => streamOf("credential", data.credential_id),
  opens: true,
});
export const ProviderRemoved = defineEvent("ProviderRemoved", { public: Ends.extend({ name: z.string() }) });

export type ProviderCommand = CommandFrom<typeof ConfigureProvider> | CommandFrom<typeof RemoveProvider>;
export type ProviderEvent = EventFrom<typeof ProviderConfigured> | EventFrom<typeof ProviderRemoved>;
