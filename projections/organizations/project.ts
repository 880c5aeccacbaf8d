import type { OrganizationEvent } from "#events/organization.ts";
import { defineProjection, encode } from "../projection.ts";

export const organizations = defineProjection<OrganizationEvent>({
  name: "organizations",
  version: 3,
  tables: new URL("table.sql", import.meta.url),
  on: {
    OrganizationCreated: ({ data, personal, recorded_at }) =>
      personal
        ? [
            {
              table: "organizations",
              kind: "put",
              key: { id: data.organization_id },
              row: { name: encode(personal.name), scripted_tools: true, ocr_languages: null, created_at: recorded_at },
            },
          ]
        : [],
    ScriptedToolsSwitched: ({ organization_id, data }) => [
      { table: "organizations", kind: "patch", key: { id: organization_id }, row: { scripted_tools: data.enabled } },
    ],
    OcrLanguagesSet: ({ organization_id, data }) => [
      {
        table: "organizations",
        kind: "patch",
        key: { id: organization_id },
        row: { ocr_languages: data.languages && encode(data.languages) },
      },
    ],
  },
});
