import type { AliasEvent } from "#events/alias.ts";
import { deriveId } from "#events/ids.ts";
import { defineProjection, encode, putRow, removeRow } from "../projection.ts";

export const aliasId = (organization: string, name: string): string => deriveId("alias", organization, name);

export const aliases = defineProjection<AliasEvent>({
  name: "aliases",
  version: 1,
  tables: new URL("table.sql", import.meta.url),
  on: {
    AliasConfigured: ({ organization_id, data: { alias, ...settings }, recorded_at }) => [
      putRow("aliases", aliasId(organization_id, alias), {
        organization_id,
        name: alias,
        settings: encode(settings),
        updated_at: recorded_at,
      }),
    ],
    AliasRemoved: ({ organization_id, data }) => [removeRow("aliases", aliasId(organization_id, data.alias))],
  },
});
