import type { ProjectEvent } from "#events/project.ts";
import { defineProjection, encode } from "../projection.ts";

const at = (id: string) => ({ table: "projects", key: { id } });

export const projects = defineProjection<ProjectEvent>({
  name: "projects",
  version: 1,
  tables: new URL("table.sql", import.meta.url),
  on: {
    ProjectCreated: ({ organization_id, data, personal, recorded_at }) =>
      personal
        ? [
            {
              ...at(data.project_id),
              kind: "put",
              row: { organization_id, name: encode(personal.name), created_at: recorded_at, updated_at: recorded_at },
            },
          ]
        : [],
    ProjectChanged: ({ data, personal, recorded_at }) =>
      personal
        ? [{ ...at(data.project_id), kind: "patch", row: { name: encode(personal.name), updated_at: recorded_at } }]
        : [],
    ProjectDeleted: ({ data }) => [{ ...at(data.project_id), kind: "remove" }],
  },
});
