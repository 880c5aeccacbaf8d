import { PERSONAL } from "../topology.ts";
import { onceOnly, perform, type Action } from "./session.ts";
import type { KnownProject } from "./known.ts";

const nameOf = ({ id }: Action): string => `${id} ${PERSONAL}`;
const named = ({ body }: { body: any }) => ({ name: body.name });

export async function createProject(action: Action, token: string): Promise<void> {
  const { id, session } = action;
  const body = { name: nameOf(action) };
  const done = await perform(action, {
    what: "project.create",
    keyed: true,
    asked: body,
    wanted: { method: "POST", path: "/api/projects", token, headers: onceOnly(id), body },
    read: (answered) => ({ project_id: answered.body.id, ...named(answered) }),
  });
  if (done.got["project_id"]) session.projects.push({ id: done.got["project_id"], gone: false });
}

export async function readProject(action: Action, { id: project_id }: KnownProject, token: string): Promise<void> {
  await perform(action, {
    what: "project.read",
    asked: { project_id },
    wanted: { method: "GET", path: `/api/projects/${project_id}`, token },
    read: named,
  });
}

export async function changeProject(action: Action, { id: project_id }: KnownProject, token: string): Promise<void> {
  const body = { name: nameOf(action) };
  await perform(action, {
    what: "project.change",
    asked: { project_id, ...body },
    wanted: { method: "PATCH", path: `/api/projects/${project_id}`, token, body },
    read: named,
  });
}

/** Deletes a project that has no keys. */
export async function deleteProject(action: Action, project: KnownProject, token: string): Promise<void> {
  const { id: project_id } = project;
  if (action.session.keys.some((key) => key.project_id === project_id)) return;
  const { outcome } = await perform(action, {
    what: "project.delete",
    asked: { project_id },
    wanted: { method: "DELETE", path: `/api/projects/${project_id}`, token },
  });
  project.gone = outcome !== "refused";
}
