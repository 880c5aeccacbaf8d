import type { OrganizationEvent } from "#events/organization.ts";
import { defineProjection, encode } from "../projection.ts";

export const organizations = defineProjection<OrganizationEvent>({
  name: "organizations",
  version: 2,
  tables: new URL("table.sql", import.meta.url),
  on: {
    OrganizationCreated: ({ data, personal, recorded_at }) =>
      personal
        ? [
            {
              table: "organizations",
              kind: "put",
              key: { id: data.organization_id },
              row: { name: encode(personal.name), scripted_tools: true, created_at: recorded_at },
            },
          ]
        : [],
    ScriptedToolsSwitched: ({ organization_id, data }) => [
      { table: "organizations", kind: "patch", key: { id: organization_id }, row: { scripted_tools: data.enabled } },
    ],
  },
});
