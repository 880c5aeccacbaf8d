import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { newId, streamOf } from "#events/ids.ts";
import { ChangeProject, CreateProject, DeleteProject } from "#events/project.ts";
import { listProjects, usesOfProject, type ProjectRow } from "#projections/projects/query.ts";
import { requireAdmin, requireSession } from "../auth/authenticate.ts";
import type { App } from "../app.ts";
import type { Caller } from "../auth/caller.ts";
import type { Http } from "../deps.ts";
import { ApiError } from "../errors.ts";
import { commandId, fingerprintOf, idempotencyKey, madeBefore } from "../idempotency.ts";
import { listOf, PageQuery, pageOf } from "../page.ts";
import { findProject } from "../project.ts";
import { notReadable } from "../send.ts";

const name = z.string().trim().min(1).max(200);
const Create = z.object({ name });
const Change = Create.partial();
const Project = z.object({
  id: z.string(),
  name: z.string(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});

const present = ({ id, name, created_at, updated_at }: ProjectRow): z.infer<typeof Project> => ({
  id,
  name,
  created_at: created_at.toISOString(),
  updated_at: updated_at.toISOString(),
});

async function find(http: Http, { organization_id }: Caller, id: string): Promise<ProjectRow> {
  const row = await findProject(http, organization_id, id);
  if (!row) throw new ApiError("project_not_found", "No project has this id.", { param: "id" });
  return row;
}

const envelope = ({ caller, id }: FastifyRequest, project_id: string) => ({
  stream: streamOf("project", project_id),
  organization_id: caller.organization_id,
  principal: caller.principal,
  request_id: id,
  waitFor: ["projects"],
});

async function create(http: Http, request: FastifyRequest, { name }: z.infer<typeof Create>): Promise<ProjectRow> {
  const { organization_id, principal } = request.caller;
  const asking = { organization_id, principal, user: undefined, method: "POST", path: "/api/projects" };
  const id = commandId(asking, idempotencyKey(request.headers));
  const fingerprint = fingerprintOf(asking, request.bodyHash);
  const project_id = newId();
  const sending = { ...envelope(request, project_id), id, fingerprint, fresh: true };
  const sent = await http.send(CreateProject, { ...sending, data: { project_id, name } });
  if (!sent.repeated && !sent.followed) throw notReadable();
  const made = sent.repeated ? await madeBefore(http.db, organization_id, id, fingerprint) : project_id;
  return find(http, request.caller, made);
}

/**
 * What is the project's would be out of every key's reach without it. One that is made at the same moment still is, and does
 * no harm: no key can be of that project any more. Throws 409 `project_in_use`.
 */
async function checkUnused({ db, freshRead }: Http, { organization_id }: Caller, { id, name }: ProjectRow) {
  await freshRead(["keys", "agents", "workflows"]);
  const uses = await usesOfProject(db, organization_id, id);
  const kind = (["keys", "agents", "workflows"] as const).find((kind) => uses[kind] > 0);
  if (!kind) return;
  const [what, them] = uses[kind] === 1 ? [kind.replace(/s$/, ""), "it"] : [kind, "them"];
  const ends = kind === "workflows" ? "disable" : "delete";
  throw new ApiError("project_in_use", `${name} has ${uses[kind]} ${what}; ${ends} ${them} first.`, { param: "id" });
}

/** Projects of the organization (decisions: accounts): everybody signed in sees them, owners and admins manage them. */
export function projectRoutes(app: App, http: Http): void {
  const reading = requireSession(http);
  const managing = requireAdmin(http);
  const described = { tags: ["Accounts"], security: [{ session: [] }] };
  const one = { ...described, params: z.object({ id: z.string() }) };

  const listing = {
    ...described,
    summary: "List projects",
    querystring: PageQuery,
    response: { 200: listOf(Project) },
  };
  app.get("/projects", { onRequest: reading, schema: listing }, async ({ caller, query }) => {
    const page = pageOf(query);
    await http.freshRead(["projects"]);
    const { rows, total } = await listProjects(http.db, caller.organization_id, page);
    return { data: rows.map(present), total, ...page };
  });

  const creating = { ...described, summary: "Create a project", body: Create, response: { 201: Project } };
  app.post("/projects", { onRequest: managing, schema: creating }, async (request, reply) =>
    reply.code(201).send(present(await create(http, request, request.body))),
  );

  const readingOne = { ...one, summary: "One project", response: { 200: Project } };
  app.get("/projects/:id", { onRequest: reading, schema: readingOne }, async ({ caller, params }) =>
    present(await find(http, caller, params.id)),
  );

  const changing = { ...one, summary: "Rename a project", body: Change, response: { 200: Project } };
  app.patch("/projects/:id", { onRequest: managing, schema: changing }, async (request) => {
    const row = await find(http, request.caller, request.params.id);
    const { name } = request.body;
    if (name === undefined) return present(row);
    const data = { project_id: row.id, name };
    await http.send(ChangeProject, { ...envelope(request, row.id), data, mustFollow: true });
    return present(await find(http, request.caller, row.id));
  });

  const deleting = {
    ...one,
    summary: "Delete a project",
    description: "409 `project_in_use` while it has keys, agents, or workflows that are enabled.",
    response: { 204: z.null() },
  };
  app.delete("/projects/:id", { onRequest: managing, schema: deleting }, async (request, reply) => {
    const row = await find(http, request.caller, request.params.id);
    await checkUnused(http, request.caller, row);
    const data = { project_id: row.id };
    await http.send(DeleteProject, { ...envelope(request, row.id), data, mustFollow: true });
    return reply.code(204).send(null);
  });
}
