import { beforeAll, describe, expect, test } from "vitest";
import { CreateDefinition, StepSettings } from "#events/definition.ts";
import { newId, streamOf } from "#events/ids.ts";
import { expectRefusal } from "../hostile/target.ts";
import { toolOf } from "../tools/desk.ts";
import { asking, openManagement, WAITING, type Management } from "./manage.ts";

/* GET /api/workflow-definitions (spec: Workflow API), and what keeps a definition from being deleted. */

let m: Management;
beforeAll(async () => {
  m = await openManagement();
});
const list = async (query = "") => (await m.person("GET", `/workflow-definitions${query}`)).body;

describe("definitions that can be registered", () => {
  test("are none at first", async () => {
    expect(await list()).toEqual({ data: [], total: 0, limit: 50, offset: 0 });
  });

  test("are those of type workflow, as they were saved last", async () => {
    const { id } = await m.define(WAITING, { name: "refund" });
    await m.define(toolOf("return 1"), { type: "tool", name: "a_tool" });
    expect((await list()).data).toMatchObject([{ id, name: "refund", version: 1, description: "", secrets: [] }]);
    const { body: saved } = await m.person("PATCH", `/definitions/${id}`, { source: asking("shop_key") });
    const { data, total } = await list();
    expect(total).toBe(1);
    expect(data).toEqual([
      {
        id,
        name: "refund",
        version: 2,
        description: "Asks",
        args: { type: "object", properties: {} },
        secrets: ["shop_key"],
        steps: [],
        lint: [],
        created_at: saved.created_at,
        updated_at: saved.updated_at,
      },
    ]);
  });

  test("show their arguments, their steps and what was found in their code", async () => {
    const definition_id = newId();
    const parameters = { type: "object", properties: { order: { type: "string" } }, required: ["order"] };
    const lint = [{ code: "caught_signal", message: "A catch swallows the signal.", line: 3, column: 5 }];
    const steps = { charge: StepSettings.parse({}), notify: StepSettings.parse({ retries: 0 }) };
    await m.send(CreateDefinition, streamOf("definition", definition_id), {
      definition_id,
      type: "workflow",
      name: "checked",
      name_claim: "checked",
      blob: "none",
      sha256: "00",
      meta: { description: "", parameters, secrets: [], workflow: { steps, lint } },
      grants: [],
    });
    const { data } = await list();
    expect(data.at(-1)).toMatchObject({ id: definition_id, args: parameters, steps: ["charge", "notify"], lint });
    const { body } = await m.person("GET", "/definitions?type=workflow");
    expect(body.data.at(-1)).toMatchObject({ parameters, workflow: { steps, lint } });
    expect((await m.person("DELETE", `/definitions/${definition_id}`)).status).toBe(204);
  });

  test("come in pages", async () => {
    await m.define();
    const whole = await list();
    expect(whole.total).toBe(2);
    expect(await list("?limit=1&offset=1")).toEqual({ data: [whole.data[1]], total: 2, limit: 1, offset: 1 });
  });
});

describe("a definition", () => {
  const remove = (id: string) => m.person("DELETE", `/definitions/${id}`);
  const refused = (answer: Awaited<ReturnType<typeof remove>>, why: RegExp) => {
    expectRefusal(answer, 409, "definition_in_use", "id");
    expect(answer.body.error.message).toMatch(why);
  };

  test("stays while a workflow may start runs of it", async () => {
    const { id, definition } = await m.register();
    refused(await remove(definition.id), /registered as a workflow/);
    await m.person("DELETE", `/workflows/${id}`);
    expect((await remove(definition.id)).status).toBe(204);
    expectRefusal(await remove(definition.id), 404, "definition_not_found", "id");
  });

  test("stays while a run of it is live", async () => {
    const workflow = await m.register();
    const run = await m.start(workflow);
    await m.person("DELETE", `/workflows/${workflow.id}`);
    refused(await remove(workflow.definition.id), /runs that have not ended/);
    await m.cancel(run);
    expect((await remove(workflow.definition.id)).status).toBe(204);
    expect((await m.person("GET", `/workflows/${workflow.id}`)).body.runs).toEqual({ live: 0, total: 1 });
  });

  test("goes where nothing is registered of it", async () => {
    const { id } = await m.define();
    await m.register();
    expect((await remove(id)).status).toBe(204);
    expect((await list("?limit=500")).data.map((row: any) => row.id)).not.toContain(id);
  });
});
