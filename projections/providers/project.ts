import type { ProviderEvent } from "#events/provider.ts";
import { defineProjection, encode, streamRow } from "../projection.ts";

const change = streamRow("providers");

const NO_SETTINGS = {
  base_url: null,
  models: null,
  format: null,
  context_windows: null,
  model: null,
  dimensions: null,
};

export const providers = defineProjection<ProviderEvent>({
  name: "providers",
  version: 5,
  tables: new URL("table.sql", import.meta.url),
  on: {
    ProviderConfigured: (event) =>
      change(event, {
        name: encode(event.data.name),
        base_url: encode(event.data.base_url),
        models: encode(event.data.models),
        format: event.data.format ?? null,
        context_windows: encode(event.data.context_windows ?? null),
        model: encode(event.data.model),
        dimensions: event.data.dimensions ?? null,
        sealed_api_key: event.personal?.sealed_api_key ?? null,
      }),
    ProviderRemoved: (event) => change(event, { ...NO_SETTINGS, sealed_api_key: null }),
  },
});
