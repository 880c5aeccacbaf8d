import type { OrganizationEvent } from "#events/organization.ts";
import { defineProjection, encode, patchRow, putRow } from "../projection.ts";

export const organizations = defineProjection<OrganizationEvent>({
  name: "organizations",
  version: 3,
  tables: new URL("table.sql", import.meta.url),
  on: {
    OrganizationCreated: ({ data, personal, recorded_at }) =>
      personal
        ? [
            putRow("organizations", data.organization_id, {
              name: encode(personal.name),
              scripted_tools: true,
              ocr_languages: null,
              created_at: recorded_at,
            }),
          ]
        : [],
    ScriptedToolsSwitched: ({ organization_id, data }) => [
      patchRow("organizations", organization_id, { scripted_tools: data.enabled }),
    ],
    OcrLanguagesSet: ({ organization_id, data }) => [
      patchRow("organizations", organization_id, { ocr_languages: data.languages && encode(data.languages) }),
    ],
  },
});
