import { z } from "zod";
import { defineCommand, defineEvent, type CommandFrom, type EventFrom } from "./language.ts";
import { streamOf } from "./ids.ts";

const Id = z.object({ project_id: z.uuid() });
const Words = z.object({ name: z.string() });

export const CreateProject = defineCommand("CreateProject", "project", Id.extend(Words.shape));
export const ChangeProject = defineCommand("ChangeProject", "project", Id.extend(Words.shape));
export const DeleteProject = defineCommand("DeleteProject", "project", Id);

const thing = (data: { project_id: string }) => streamOf("project", data.project_id);
export const ProjectCreated = defineEvent("ProjectCreated", { public: Id, personal: Words, thing, opens: true });
export const ProjectChanged = defineEvent("ProjectChanged", { public: Id, personal: Words, thing });
export const ProjectDeleted = defineEvent("ProjectDeleted", { public: Id });

export type ProjectCommand =
  | CommandFrom<typeof CreateProject>
  | CommandFrom<typeof ChangeProject>
  | CommandFrom<typeof DeleteProject>;
export type ProjectEvent =
  | EventFrom<typeof ProjectCreated>
  | EventFrom<typeof ProjectChanged>
  | EventFrom<typeof ProjectDeleted>;
