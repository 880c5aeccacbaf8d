import { beforeAll, describe, expect, test } from "vitest";
import { expectRefusal } from "../hostile/target.ts";
import { clientOf } from "../http/service.ts";
import { openDesk, toolOf, type Desk } from "./desk.ts";

/* /api/agents (decisions: accounts): managed by builders and above, with versions. */

let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
});

const create = (body: object, headers?: Record<string, string>) => desk.person("POST", "/agents", body, headers);
const made = async (body: object = {}) => {
  const { status, body: agent, text } = await create({ name: "Helper", model: "offline/echo", ...body });
  if (status !== 201) throw new Error(text);
  return agent;
};

describe("an agent", () => {
  test("is made with what is sent, and the rest by default", async () => {
    const agent = await made();
    expect(agent).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: "Helper",
      version: 1,
      model: "offline/echo",
      instructions: "",
      tools: [],
      collections: null,
      reasoning: null,
      api_enabled: true,
      project_id: null,
      expose_tool_items: true,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
    expect((await desk.person("GET", `/agents/${agent.id}`)).body).toEqual(agent);
    const { body } = await desk.person("GET", "/agents?limit=500");
    expect(body.data.map(({ id }: any) => id)).toContain(agent.id);
    expect(body.total).toBe(body.data.length);
  });

  test("has a version for each change, and what is left out stays", async () => {
    const { id } = await made({ instructions: "Be kind." });
    const changed = await desk.person("PATCH", `/agents/${id}`, {
      model: "offline/scripted",
      reasoning: { effort: "low" },
    });
    expect(changed.body).toMatchObject({
      version: 2,
      model: "offline/scripted",
      instructions: "Be kind.",
      reasoning: { effort: "low" },
    });
    const cleared = await desk.person("PATCH", `/agents/${id}`, { model: null, reasoning: null });
    expect(cleared.body).toMatchObject({ version: 3, model: null, reasoning: null });
  });

  test("answers while it is there and its API is on", async () => {
    const { id } = await made();
    const ask = () =>
      clientOf({ chat: `${desk.api}/agents/${id}/v1` }, desk.service.credentials.api_key)("POST", "/responses", {
        input: "Hello",
      });
    expect((await ask()).status).toBe(200);
    await desk.person("PATCH", `/agents/${id}`, { api_enabled: false });
    expectRefusal(await ask(), 403, "agent_api_disabled");
    await desk.person("PATCH", `/agents/${id}`, { api_enabled: true, model: null });
    expectRefusal(await ask(), 400, "model_not_configured");
    expect((await desk.person("DELETE", `/agents/${id}`)).status).toBe(204);
    expectRefusal(await ask(), 404, "agent_not_found");
    for (const method of ["GET", "PATCH", "DELETE"])
      expectRefusal(
        await desk.person(method, `/agents/${id}`, method === "PATCH" ? {} : undefined),
        404,
        "agent_not_found",
        "id",
      );
  });

  test("has tools and collections that there are", async () => {
    expect((await desk.define(toolOf("return 1"), { name: "own" })).status).toBe(201);
    const knowledge = clientOf({ chat: `${desk.api}/v1/knowledge` }, desk.service.credentials.api_key);
    expect((await knowledge("POST", "/collections", { name: "Staff Rules" })).status).toBe(201);
    const agent = await made({ tools: ["own", "search_documents", "own"], collections: ["Staff Rules"] });
    expect(agent).toMatchObject({ tools: ["own", "search_documents"], collections: ["staff-rules"] });
    expectRefusal(await create({ name: "A", tools: ["own", "none"] }), 400, "unknown_tool", "tools[1]");
    expectRefusal(await create({ name: "A", collections: ["none"] }), 400, "unknown_collection", "collections");
    const path = `/agents/${agent.id}`;
    expectRefusal(await desk.person("PATCH", path, { tools: ["none"] }), 400, "unknown_tool", "tools[0]");
    expect((await desk.person("GET", path)).body.version).toBe(1);
    await knowledge("DELETE", "/collections/staff-rules");
    expect((await desk.person("GET", path)).body.collections).toEqual([]);
  });

  test("is made once under one idempotency key", async () => {
    const headers = { "idempotency-key": "agent-1" };
    const [first, second] = [await create({ name: "Once" }, headers), await create({ name: "Once" }, headers)];
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.body).toEqual(first.body);
    expectRefusal(await create({ name: "Twice" }, headers), 422, "idempotency_key_reused");
  });

  test.each([
    ["no name", { name: "" }, "name"],
    ["tools that are no list", { name: "A", tools: "own" }, "tools"],
    ["a switch that is none", { name: "A", api_enabled: "yes" }, "api_enabled"],
    ["a project that is no id", { name: "A", project_id: "x" }, "project_id"],
    ["effort that is no text", { name: "A", reasoning: { effort: 5 } }, "reasoning.effort"],
  ])("is not made with %s", async (_, body, param) => {
    expectRefusal(await create(body), 400, undefined, param);
  });
});

test("everybody signed in sees agents, builders and above manage them", async () => {
  const { id } = await made();
  type Route = [method: string, path: string, sent?: object];
  const reads: Route[] = [
    ["GET", "/agents"],
    ["GET", `/agents/${id}`],
  ];
  const writes: Route[] = [
    ["POST", "/agents", { name: "A" }],
    ["PATCH", `/agents/${id}`, {}],
    ["DELETE", `/agents/${id}`],
  ];
  for (const [method, path, sent] of [...reads, ...writes])
    expectRefusal(await desk.key(method, path, sent), 403, "session_required");
  for (const role of ["viewer", "approver"])
    await desk.as(role, async () => {
      for (const [method, path] of reads) expect((await desk.person(method, path)).status).toBe(200);
      for (const [method, path, sent] of writes) expectRefusal(await desk.person(method, path, sent), 403, "forbidden");
    });
  await desk.as("builder", async () => expect((await desk.person("PATCH", `/agents/${id}`, {})).status).toBe(200));
  const stranger = await desk.signIn(await desk.service.organization("Other"));
  for (const method of ["GET", "PATCH", "DELETE"]) {
    const sent = method === "PATCH" ? {} : undefined;
    const foreign = await stranger(method, `/agents/${id}`, sent);
    const unknown = await stranger(method, "/agents/0198f000-0000-7000-8000-000000000000", sent);
    expectRefusal(foreign, 404, "agent_not_found", "id");
    expect(foreign.body).toEqual(unknown.body);
  }
  expectRefusal(await desk.person("GET", "/agents/not-a-uuid"), 404, "agent_not_found", "id");
});
