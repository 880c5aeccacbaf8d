import { z } from "zod";
import { defineCommand, defineEvent, type CommandsIn, type EventsIn } from "./language.ts";
import { streamName } from "./ids.ts";

const Id = z.object({ project_id: z.uuid() });
const Personal = z.object({ name: z.string() });

export const CreateProject = defineCommand("CreateProject", "project", Id.extend(Personal.shape));
export const ChangeProject = defineCommand("ChangeProject", "project", Id.extend(Personal.shape));
export const DeleteProject = defineCommand("DeleteProject", "project", Id);

const thing = (data: { project_id: string }) => streamName("project", data.project_id);
export const ProjectCreated = defineEvent("ProjectCreated", { public: Id, personal: Personal, thing, opens: true });
export const ProjectChanged = defineEvent("ProjectChanged", { public: Id, personal: Personal, thing });
export const ProjectDeleted = defineEvent("ProjectDeleted", { public: Id });

export type ProjectCommand = CommandsIn<typeof import("./project.ts")>;
export type ProjectEvent = EventsIn<typeof import("./project.ts")>;
