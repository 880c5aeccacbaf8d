import type { Decider } from "#events/decider.ts";
import {
  ProjectChanged,
  ProjectCreated,
  ProjectDeleted,
  type ProjectCommand,
  type ProjectEvent,
} from "#events/project.ts";
import { Rejection } from "#events/rejection.ts";
import { eraseOn } from "./keyErasure.ts";

interface State {
  status: "absent" | "active" | "deleted";
}

/** Before http sends DeleteProject, it checks in the read models that the project is empty. */
export const project: Decider<State, ProjectCommand, ProjectEvent> = {
  version: 1,
  initial: { status: "absent" },
  decide(command, state) {
    const { project_id } = command.data;
    if (command.type === "CreateProject") {
      if (state.status !== "absent") throw new Rejection("project_exists", "This project exists already.");
      return [ProjectCreated.of({ project_id }, { name: command.data.name })];
    }
    if (state.status !== "active") throw new Rejection("project_not_found", "No project has this id.");
    if (command.type === "DeleteProject") return [ProjectDeleted.of({ project_id })];
    return [ProjectChanged.of({ project_id }, { name: command.data.name })];
  },
  evolve(state, event) {
    switch (event.type) {
      case "ProjectCreated":
        return { status: "active" };
      case "ProjectChanged":
        return state;
      case "ProjectDeleted":
        return { status: "deleted" };
    }
  },
  erases: eraseOn("ProjectDeleted"),
};
