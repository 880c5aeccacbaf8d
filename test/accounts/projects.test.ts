import { beforeAll, describe, expect, test } from "vitest";
import { clientOf } from "../http/service.ts";
import { expectRefusal, UNKNOWN } from "../hostile/target.ts";
import { openManagement, type Management } from "../workflows/manage.ts";

/* /api/projects (decisions: accounts): what belongs to one is reached by its keys, and by keys of none. */

let m: Management;
beforeAll(async () => {
  m = await openManagement();
});

const create = (body: object, headers?: Record<string, string>) => m.person("POST", "/projects", body, headers);
const made = async (name = "Shop"): Promise<any> => (await create({ name })).body;
const remove = (id: string) => m.person("DELETE", `/projects/${id}`);

describe("a project", () => {
  test("is made, read, listed, renamed and deleted", async () => {
    const { status, body } = await create({ name: " Shop \u0000\ud800 " });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: "Shop \u0000\ud800",
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
    const path = `/projects/${body.id}`;
    expect((await m.person("GET", path)).body).toEqual(body);
    const list = (await m.person("GET", "/projects?limit=500")).body;
    expect(list).toMatchObject({ data: expect.arrayContaining([body]), total: list.data.length, limit: 500 });
    const renamed = (await m.person("PATCH", path, { name: "Store" })).body;
    expect(renamed).toMatchObject({ id: body.id, name: "Store", created_at: body.created_at });
    expect((await m.person("PATCH", path, {})).body).toEqual(renamed);
    expect((await remove(body.id)).status).toBe(204);
    expectRefusal(await m.person("GET", path), 404, "project_not_found", "id");
    expectRefusal(await m.person("PATCH", path, { name: "x" }), 404, "project_not_found", "id");
    expectRefusal(await remove(body.id), 404, "project_not_found", "id");
    expect(await m.service.db.query("select from log.keys where thing = $1", [`project-${body.id}`])).toEqual([]);
  });

  test("is made once under one idempotency key", async () => {
    const once = { "idempotency-key": "project-1" };
    const first = await create({ name: "Once" }, once);
    const again = await create({ name: "Once" }, once);
    expect([again.status, again.body]).toEqual([201, first.body]);
    expectRefusal(await create({ name: "Twice" }, once), 422, "idempotency_key_reused");
  });

  test.each([{}, { name: "" }, { name: "  " }, { name: 5 }, { name: "n".repeat(201) }])(
    "is not made of %j",
    async (body) => expectRefusal(await create(body), 400, undefined, "name"),
  );

  test("of another organization does not exist, to the byte", async () => {
    const { id } = await made();
    const stranger = await m.signIn(await m.service.organization("Elsewhere"));
    const seen = async (project: string) =>
      Promise.all(
        ["GET", "PATCH", "DELETE"].map(async (method) => {
          const body = method === "PATCH" ? { name: "x" } : undefined;
          const { status, text } = await stranger(method, `/projects/${project}`, body);
          return [status, text];
        }),
      );
    expect(await seen(id)).toEqual(await seen(UNKNOWN));
    expect((await stranger("GET", "/projects")).body).toMatchObject({ data: [], total: 0 });
    for (const path of ["/agents", "/keys"])
      expectRefusal(await stranger("POST", path, { name: "x", project_id: id }), 400, "unknown_project", "project_id");
    expect((await m.person("GET", `/projects/${id}`)).status).toBe(200);
  });
});

test("what names a project that is not there is refused", async () => {
  const gone = await made();
  await remove(gone.id);
  const agent = (await m.person("POST", "/agents", { name: "A" })).body;
  const workflow = await m.register();
  for (const project_id of [UNKNOWN, gone.id]) {
    const refusals = [
      await m.person("POST", "/keys", { name: "K", project_id }),
      await m.person("POST", "/agents", { name: "A", project_id }),
      await m.person("PATCH", `/agents/${agent.id}`, { project_id }),
      await m.person("POST", "/workflows", { definition_id: workflow.definition.id, project_id }),
      await m.person("PATCH", `/workflows/${workflow.id}`, { project_id }),
    ];
    for (const refusal of refusals) expectRefusal(refusal, 400, "unknown_project", "project_id");
  }
});

test("a project stays while it has keys, agents, or workflows that are enabled", async () => {
  const { id: project_id } = await made();
  const key = (await m.person("POST", "/keys", { name: "K", project_id })).body;
  const used = await remove(project_id);
  expectRefusal(used, 409, "project_in_use", "id");
  expect(used.body.error.message).toMatch(/ has 1 key; delete it first\.$/);
  await m.person("DELETE", `/keys/${key.id}`);
  const agent = (await m.person("POST", "/agents", { name: "A", project_id })).body;
  expectRefusal(await remove(project_id), 409, "project_in_use", "id");
  expect((await m.person("PATCH", `/agents/${agent.id}`, { project_id: null })).body.project_id).toBeNull();
  const workflow = await m.register({ project_id });
  expectRefusal(await remove(project_id), 409, "project_in_use", "id");
  await m.person("DELETE", `/workflows/${workflow.id}`);
  expect((await remove(project_id)).status).toBe(204);
});

test("a key of a project reaches its agents and workflows and what has none; what is another's is absent", async () => {
  const [ours, theirs] = [await made("Ours"), await made("Theirs")];
  const keyOf = async (project_id: string | null) =>
    clientOf({ chat: m.api }, (await m.person("POST", "/keys", { name: "K", project_id })).body.key);
  const [mine, other, any] = [await keyOf(ours.id), await keyOf(theirs.id), await keyOf(null)];
  const things = async (project_id: string | null) => ({
    agent: (await m.person("POST", "/agents", { name: "A", model: "offline/echo", project_id })).body.id as string,
    workflow: (await m.register({ project_id })).id as string,
  });
  const [inside, outside] = [await things(ours.id), await things(null)];
  const nothing = { agent: UNKNOWN, workflow: UNKNOWN };
  const reach = async (key: typeof mine, { agent, workflow }: typeof inside) => {
    const answers = [
      await key("POST", `/agents/${agent}/v1/responses`, { input: "x" }),
      await key("GET", `/agents/${agent}/v1/models`),
      await key("POST", `/workflows/${workflow}/runs`, { args: {} }),
    ];
    return answers.map(({ status, text }) => (status < 300 ? status : text));
  };
  const reached = [200, 200, 202];
  for (const key of [mine, any]) expect(await reach(key, inside)).toEqual(reached);
  for (const key of [mine, other, any]) expect(await reach(key, outside)).toEqual(reached);
  expect(await reach(other, inside)).toEqual(await reach(other, nothing));
});

test("everybody signed in sees projects, owners and admins manage them", async () => {
  const { id } = await made();
  for (const role of ["viewer", "approver", "builder", "admin"])
    await m.as(role, async () => {
      expect((await m.person("GET", "/projects")).status).toBe(200);
      const renamed = await m.person("PATCH", `/projects/${id}`, { name: role });
      expect([renamed.status, renamed.body.error?.code]).toEqual(
        role === "admin" ? [200, undefined] : [403, "forbidden"],
      );
    });
  expectRefusal(await m.key("GET", "/projects"), 403, "session_required");
});
