import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { newId, streamName } from "#events/ids.ts";
import { ChangeProject, CreateProject, DeleteProject } from "#events/project.ts";
import { listProjects, countProjectUses, type ProjectRow } from "#projections/projects/query.ts";
import { requireAdmin, requireSession } from "../auth/authenticate.ts";
import type { Caller } from "../base/caller.ts";
import type { App } from "../base/app.ts";
import { commandFields } from "../base/commandFields.ts";
import { checkCount } from "../base/countLimits.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { findProject } from "../base/findProject.ts";
import { createOnce, findCreated, identifyPost } from "../base/idempotency.ts";
import { describeList, pageResponse } from "../base/pageResponse.ts";

const name = z.string().trim().min(1).max(200);
const Create = z.object({ name });
const Change = z.strictObject({ name }).partial();
const Project = z
  .object({
    id: z.string(),
    name: z.string(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ title: "Project" });

const present = ({ id, name, created_at, updated_at }: ProjectRow): z.infer<typeof Project> => ({
  id,
  name,
  created_at: created_at.toISOString(),
  updated_at: updated_at.toISOString(),
});

async function requireById(http: Http, { organization_id }: Caller, id: string): Promise<ProjectRow> {
  const row = await findProject(http, organization_id, id);
  if (!row) throw new ApiError("project_not_found", "No project has this id.", { param: "id" });
  return row;
}

const commandFor = (request: FastifyRequest, project_id: string) =>
  commandFields(request, streamName("project", project_id), ["projects"]);

async function create(http: Http, request: FastifyRequest, { name }: z.infer<typeof Create>): Promise<ProjectRow> {
  const identity = identifyPost(request, "/api/projects");
  const earlier = await findCreated(http, identity);
  if (earlier !== undefined) return requireById(http, request.caller, earlier);
  await checkCount(http, request.caller.organization_id, "projects");
  const project_id = newId();
  const command = {
    ...commandFor(request, project_id),
    ...identity,
    data: { project_id, name },
    requireProjected: true,
  };
  const { created_id } = await createOnce(http, CreateProject, command);
  return requireById(http, request.caller, created_id);
}

/**
 * Refuses to delete a project that is in use, because no key could reach what belongs to it. Things created at the same moment
 * may be missed; that is harmless, since the deleted project gets no more keys. Throws 409 `project_in_use`.
 */
async function checkUnused({ db, waitUntilCurrent }: Http, { organization_id }: Caller, { id, name }: ProjectRow) {
  await waitUntilCurrent(["keys", "agents", "workflows"]);
  const uses = await countProjectUses(db, organization_id, id);
  const kind = (["keys", "agents", "workflows"] as const).find((kind) => uses[kind] > 0);
  if (!kind) return;
  const [what, them] = uses[kind] === 1 ? [kind.replace(/s$/, ""), "it"] : [kind, "them"];
  const ends = kind === "workflows" ? "disable" : "delete";
  throw new ApiError("project_in_use", `${name} has ${uses[kind]} ${what}; ${ends} ${them} first.`, { param: "id" });
}

/** Projects of the organization: everybody signed in sees them, owners and admins manage them. */
export function projectRoutes(app: App, http: Http): void {
  const reading = requireSession(http);
  const managing = requireAdmin(http);
  const baseSchema = { tags: ["Accounts"], security: [{ session: [] }] };
  const itemSchema = { ...baseSchema, params: z.object({ id: z.string() }) };

  const listing = describeList(baseSchema, "List projects", Project);
  app.get("/projects", { onRequest: reading, schema: listing }, async ({ caller, query }) => {
    await http.waitUntilCurrent(["projects"]);
    return pageResponse(query, (page) => listProjects(http.db, caller.organization_id, page), present);
  });

  const creating = { ...baseSchema, summary: "Create a project", body: Create, response: { 201: Project } };
  app.post("/projects", { onRequest: managing, schema: creating }, async (request, reply) =>
    reply.code(201).send(present(await create(http, request, request.body))),
  );

  const readingOne = { ...itemSchema, summary: "Get a project", response: { 200: Project } };
  app.get("/projects/:id", { onRequest: reading, schema: readingOne }, async ({ caller, params }) =>
    present(await requireById(http, caller, params.id)),
  );

  const changing = { ...itemSchema, summary: "Rename a project", body: Change, response: { 200: Project } };
  app.patch("/projects/:id", { onRequest: managing, schema: changing }, async (request) => {
    const row = await requireById(http, request.caller, request.params.id);
    const { name } = request.body;
    if (name === undefined) return present(row);
    const data = { project_id: row.id, name };
    await http.send(ChangeProject, { ...commandFor(request, row.id), data, requireProjected: true });
    return present(await requireById(http, request.caller, row.id));
  });

  const deleting = {
    ...itemSchema,
    summary: "Delete a project",
    description: "409 `project_in_use` while it has keys, agents, or enabled workflows.",
    response: { 204: z.null() },
  };
  app.delete("/projects/:id", { onRequest: managing, schema: deleting }, async (request, reply) => {
    const row = await requireById(http, request.caller, request.params.id);
    await checkUnused(http, request.caller, row);
    const data = { project_id: row.id };
    await http.send(DeleteProject, { ...commandFor(request, row.id), data, requireProjected: true });
    return reply.code(204).send(null);
  });
}
