import { describe, expect, test } from "vitest";
import { clientOf } from "../http/service.ts";
import { expectRefusal, UNKNOWN } from "../hostile/target.ts";
import { openWorkflows, WAITING } from "../workflows/harness.ts";

/* /api/projects: a project's keys reach only what belongs to it, and keys without a project reach everything. */

const w = await openWorkflows();
const { home } = w;

const create = (body: object, headers?: Record<string, string>) => home.owner("POST", "/projects", body, headers);
const createProject = async (name = "Shop"): Promise<any> => (await create({ name })).body;
const remove = (id: string) => home.owner("DELETE", `/projects/${id}`);

describe("a project", () => {
  test("can be created, read, listed, renamed and deleted", async () => {
    const { status, body } = await create({ name: " Shop \u0000\ud800 " });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: "Shop \u0000\ud800",
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
    const path = `/projects/${body.id}`;
    expect((await home.owner("GET", path)).body).toEqual(body);
    const list = (await home.owner("GET", "/projects?limit=500")).body;
    expect(list).toMatchObject({ data: expect.arrayContaining([body]), total: list.data.length, limit: 500 });
    const renamed = (await home.owner("PATCH", path, { name: "Store" })).body;
    expect(renamed).toMatchObject({ id: body.id, name: "Store", created_at: body.created_at });
    expect((await home.owner("PATCH", path, {})).body).toEqual(renamed);
    expect((await remove(body.id)).status).toBe(204);
    expectRefusal(await home.owner("GET", path), 404, "project_not_found", "id");
    expectRefusal(await home.owner("PATCH", path, { name: "x" }), 404, "project_not_found", "id");
    expectRefusal(await remove(body.id), 404, "project_not_found", "id");
    expect(await w.resources.db.query("select from log.keys where thing = $1", [`project-${body.id}`])).toEqual([]);
  });

  test("is created once per idempotency key", async () => {
    const once = { "idempotency-key": "project-1" };
    const first = await create({ name: "Once" }, once);
    const again = await create({ name: "Once" }, once);
    expect([again.status, again.body]).toEqual([201, first.body]);
    expectRefusal(await create({ name: "Twice" }, once), 422, "idempotency_key_reused");
  });

  test.each([{}, { name: "" }, { name: "  " }, { name: 5 }, { name: "n".repeat(201) }])(
    "is refused with the body %j",
    async (body) => expectRefusal(await create(body), 400, undefined, "name"),
  );
});

test("keys, agents and workflows cannot be assigned to an unknown or deleted project", async () => {
  const gone = await createProject();
  await remove(gone.id);
  const agent = (await home.owner("POST", "/agents", { name: "A" })).body;
  const workflow = await home.register();
  for (const project_id of [UNKNOWN, gone.id]) {
    const refusals = [
      await home.owner("POST", "/keys", { name: "K", project_id }),
      await home.owner("POST", "/agents", { name: "A", project_id }),
      await home.owner("PATCH", `/agents/${agent.id}`, { project_id }),
      await home.owner("POST", "/workflows", { definition_id: workflow.definition.id, project_id }),
      await home.owner("PATCH", `/workflows/${workflow.id}`, { project_id }),
    ];
    for (const refusal of refusals) expectRefusal(refusal, 400, "unknown_project", "project_id");
  }
});

test("a project cannot be deleted while it has keys, agents or enabled workflows", async () => {
  const { id: project_id } = await createProject();
  const key = (await home.owner("POST", "/keys", { name: "K", project_id })).body;
  const used = await remove(project_id);
  expectRefusal(used, 409, "project_in_use", "id");
  expect(used.body.error.message).toMatch(/ has 1 key; delete it first\.$/);
  await home.owner("DELETE", `/keys/${key.id}`);
  const agent = (await home.owner("POST", "/agents", { name: "A", project_id })).body;
  expectRefusal(await remove(project_id), 409, "project_in_use", "id");
  expect((await home.owner("PATCH", `/agents/${agent.id}`, { project_id: null })).body.project_id).toBeNull();
  const workflow = await home.register(WAITING, {}, { project_id });
  expectRefusal(await remove(project_id), 409, "project_in_use", "id");
  await home.owner("DELETE", `/workflows/${workflow.id}`);
  expect((await remove(project_id)).status).toBe(204);
});

test("a project key reaches the agents and workflows of its project, and all others are hidden from it", async () => {
  const [ours, theirs] = [await createProject("Ours"), await createProject("Theirs")];
  const keyOf = async (project_id: string | null) =>
    clientOf({ chat: `${w.url}/api` }, (await home.owner("POST", "/keys", { name: "K", project_id })).body.key);
  const [mine, other, any] = [await keyOf(ours.id), await keyOf(theirs.id), await keyOf(null)];
  const things = async (project_id: string | null) => ({
    agent: (await home.owner("POST", "/agents", { name: "A", model: "offline/echo", project_id })).body.id as string,
    workflow: (await home.register(WAITING, {}, { project_id })).id as string,
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
  expect(await reach(any, outside)).toEqual(reached);
  const unknown = await reach(other, nothing);
  expect(await reach(other, inside)).toEqual(unknown);
  for (const key of [mine, other]) expect(await reach(key, outside)).toEqual(unknown);
});
