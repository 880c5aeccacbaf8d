import { PERSONAL } from "../topology.ts";
import { onceOnly, perform, type Doing } from "./session.ts";

/** A project that only this client manages. */
export interface KnownProject {
  id: string;
  /** Somebody has wanted it deleted. */
  gone: boolean;
}

const nameOf = ({ id }: Doing): string => `${id} ${PERSONAL}`;
const named = ({ body }: { body: any }) => ({ name: body.name });

export async function createProject(doing: Doing, token: string): Promise<void> {
  const { id, session } = doing;
  const body = { name: nameOf(doing) };
  const done = await perform(doing, {
    what: "project.create",
    keyed: true,
    asked: body,
    wanted: { method: "POST", path: "/api/projects", token, headers: onceOnly(id), body },
    read: (answered) => ({ project_id: answered.body.id, ...named(answered) }),
  });
  if (done.got["project_id"]) session.projects.push({ id: done.got["project_id"], gone: false });
}

export async function readProject(doing: Doing, { id: project_id }: KnownProject, token: string): Promise<void> {
  await perform(doing, {
    what: "project.read",
    asked: { project_id },
    wanted: { method: "GET", path: `/api/projects/${project_id}`, token },
    read: named,
  });
}

export async function changeProject(doing: Doing, { id: project_id }: KnownProject, token: string): Promise<void> {
  const body = { name: nameOf(doing) };
  await perform(doing, {
    what: "project.change",
    asked: { project_id, ...body },
    wanted: { method: "PATCH", path: `/api/projects/${project_id}`, token, body },
    read: named,
  });
}

/** Ends a project that has no keys. */
export async function deleteProject(doing: Doing, project: KnownProject, token: string): Promise<void> {
  const { id: project_id } = project;
  if (doing.session.keys.some((key) => key.project_id === project_id)) return;
  const { outcome } = await perform(doing, {
    what: "project.delete",
    asked: { project_id },
    wanted: { method: "DELETE", path: `/api/projects/${project_id}`, token },
  });
  project.gone = outcome !== "refused";
}
