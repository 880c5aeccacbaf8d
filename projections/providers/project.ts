import { partsOf } from "#events/ids.ts";
import type { ProviderEvent } from "#events/provider.ts";
import { defineProjection, encode, type Change } from "../projection.ts";

/** Set again, a credential keeps the day it was first set, unless it had been removed between. */
export const providers = defineProjection<ProviderEvent>({
  name: "providers",
  version: 1,
  tables: new URL("table.sql", import.meta.url),
  on: {
    ProviderConfigured: ({ stream, organization_id, data, recorded_at }): Change[] => [
      {
        table: "providers",
        kind: "put",
        key: { id: partsOf(stream).id },
        row: {
          organization_id,
          name: encode(data.name),
          base_url: encode(data.base_url),
          models: encode(data.models),
          sealed_api_key: data.sealed_api_key,
          created_at: recorded_at,
          updated_at: recorded_at,
        },
      },
    ],
    ProviderRemoved: ({ stream }) => [{ table: "providers", kind: "remove", key: { id: partsOf(stream).id } }],
  },
});
