import { describe, expect, test } from "vitest";
import { expectRefusal } from "../hostile/target.ts";
import { clientOf } from "../http/service.ts";
import { openDesk, toolSource } from "./desk.ts";

/* /api/agents: managed by builders and above, with versions. */

const desk = await openDesk();

const create = (body: object, headers?: Record<string, string>) => desk.person("POST", "/agents", body, headers);
const createAgent = async (body: object = {}) => {
  const { status, body: agent, text } = await create({ name: "Helper", model: "offline/echo", ...body });
  if (status !== 201) throw new Error(text);
  return agent;
};

describe("an agent", () => {
  test("is created with the fields that are sent, and defaults for the others", async () => {
    const agent = await createAgent();
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
      client_tools: false,
      tool_approvals: {},
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
    expect((await desk.person("GET", `/agents/${agent.id}`)).body).toEqual(agent);
    const { body } = await desk.person("GET", "/agents?limit=500");
    expect(body.data.map(({ id }: any) => id)).toContain(agent.id);
    expect(body.total).toBe(body.data.length);
  });

  test("gets a new version with each change, and keeps the fields that are left out", async () => {
    const { id } = await createAgent({ instructions: "Be kind." });
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

  test("answers only while it exists and its API is enabled", async () => {
    const { id } = await createAgent();
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

  test("can have only existing tools and collections", async () => {
    expect((await desk.define(toolSource("return 1"), { name: "own" })).status).toBe(201);
    const knowledge = clientOf({ chat: `${desk.api}/v1/knowledge` }, desk.service.credentials.api_key);
    expect((await knowledge("POST", "/collections", { name: "Staff Rules" })).status).toBe(201);
    const agent = await createAgent({ tools: ["own", "search_documents", "own"], collections: ["Staff Rules"] });
    expect(agent).toMatchObject({ tools: ["own", "search_documents"], collections: ["staff-rules"] });
    expectRefusal(await create({ name: "A", tools: ["own", "none"] }), 400, "unknown_tool", "tools[1]");
    expectRefusal(await create({ name: "A", collections: ["none"] }), 400, "unknown_collection", "collections");
    const path = `/agents/${agent.id}`;
    expectRefusal(await desk.person("PATCH", path, { tools: ["none"] }), 400, "unknown_tool", "tools[0]");
    expect((await desk.person("GET", path)).body.version).toBe(1);
    await knowledge("DELETE", "/collections/staff-rules");
    expect((await desk.person("GET", path)).body.collections).toEqual([]);
  });

  test("is created once for one idempotency key", async () => {
    const headers = { "idempotency-key": "agent-1" };
    const [first, second] = [await create({ name: "Once" }, headers), await create({ name: "Once" }, headers)];
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.body).toEqual(first.body);
    expectRefusal(await create({ name: "Twice" }, headers), 422, "idempotency_key_reused");
  });

  test.each([
    ["an empty name", { name: "" }, "name"],
    ["tools that are not a list", { name: "A", tools: "own" }, "tools"],
    ["a flag that is not a boolean", { name: "A", api_enabled: "yes" }, "api_enabled"],
    ["a project that is not an id", { name: "A", project_id: "x" }, "project_id"],
    ["an effort that is not a text", { name: "A", reasoning: { effort: 5 } }, "reasoning.effort"],
  ])("is not created with %s", async (_, body, param) => {
    expectRefusal(await create(body), 400, undefined, param);
  });
});

test("an agent with a malformed id is not found", async () =>
  expectRefusal(await desk.person("GET", "/agents/not-a-uuid"), 404, "agent_not_found", "id"));
