import { parseStreamName } from "#events/ids.ts";
import type { ProviderEvent } from "#events/provider.ts";
import { defineProjection, encode, type Change, type Row } from "../projection.ts";

/** The first event of the stream creates the row, later ones change it. */
const change = (event: { stream: string; version: number; recorded_at: Date }, row: Row): Change[] => {
  const key = { id: parseStreamName(event.stream).id };
  const columns = { ...row, updated_at: event.recorded_at };
  return event.version === 1
    ? [{ table: "providers", kind: "put", key, row: { ...columns, created_at: event.recorded_at } }]
    : [{ table: "providers", kind: "patch", key, row: columns }];
};

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
  version: 4,
  tables: new URL("table.sql", import.meta.url),
  on: {
    ProviderConfigured: (event) =>
      change(event, {
        organization_id: event.organization_id,
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
