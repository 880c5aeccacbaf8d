import type { ProjectEvent } from "#events/project.ts";
import { defineProjection, encode, thingRows } from "../projection.ts";

const rows = thingRows("projects");

export const projects = defineProjection<ProjectEvent>({
  name: "projects",
  version: 1,
  tables: new URL("table.sql", import.meta.url),
  on: {
    ProjectCreated: (event) =>
      event.personal ? [rows.create(event, event.data.project_id, { name: encode(event.personal.name) })] : [],
    ProjectChanged: (event) =>
      event.personal ? [rows.change(event, event.data.project_id, { name: encode(event.personal.name) })] : [],
    ProjectDeleted: ({ data }) => [rows.remove(data.project_id)],
  },
});
