import { describe, expect, test } from "vitest";
import { CreateDefinition, StepSettings } from "#events/definition.ts";
import { newCommand } from "#events/envelope.ts";
import { newId, streamName } from "#events/ids.ts";
import { expectRefusal } from "../hostile/target.ts";
import { toolSource } from "../tools/desk.ts";
import { openWorkflows, WAITING, waitingWithSecrets } from "./harness.ts";

/* GET /api/workflow-definitions (spec: Workflow API), and which definitions cannot be deleted. */

const w = await openWorkflows();
const { home } = w;
const list = async (query = "") => (await home.owner("GET", `/workflow-definitions${query}`)).body;

describe("the list of definitions that can be registered", () => {
  test("is empty at first", async () => {
    expect(await list()).toEqual({ data: [], total: 0, limit: 50, offset: 0 });
  });

  test("contains the newest version of each workflow definition", async () => {
    const { id } = await home.define(WAITING, { name: "refund" });
    await home.define(toolSource("return 1"), { type: "tool", name: "a_tool" });
    expect((await list()).data).toMatchObject([{ id, name: "refund", version: 1, description: "", secrets: [] }]);
    const { body: saved } = await home.owner("PATCH", `/definitions/${id}`, { source: waitingWithSecrets("shop_key") });
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

  test("shows arguments, steps and lint warnings", async () => {
    const definition_id = newId();
    const parameters = { type: "object", properties: { order: { type: "string" } }, required: ["order"] };
    const lint = [{ code: "caught_signal", message: "A catch swallows the signal.", line: 3, column: 5 }];
    const steps = { charge: StepSettings.parse({}), notify: StepSettings.parse({ retries: 0 }) };
    const command = {
      definition_id,
      type: "workflow",
      name: "checked",
      name_claim: "checked",
      blob: "none",
      sha256: "00",
      meta: { description: "", parameters, secrets: [], workflow: { steps, lint } },
      grants: [],
    };
    const stream = streamName("definition", definition_id);
    const fields = {
      stream,
      organization_id: home.organization_id,
      request_id: "test",
      timeout_ms: 15_000,
      data: command,
    };
    const { bus, log } = w.resources;
    expect((await bus.sender(log).send(newCommand(CreateDefinition.type, fields))).rejection).toBeUndefined();
    const { data } = await list();
    expect(data.at(-1)).toMatchObject({ id: definition_id, args: parameters, steps: ["charge", "notify"], lint });
    const { body } = await home.owner("GET", "/definitions?type=workflow");
    expect(body.data.at(-1)).toMatchObject({ parameters, workflow: { steps, lint } });
    expect((await home.owner("DELETE", `/definitions/${definition_id}`)).status).toBe(204);
  });

  test("comes in pages", async () => {
    await home.define();
    const whole = await list();
    expect(whole.total).toBe(2);
    expect(await list("?limit=1&offset=1")).toEqual({ data: [whole.data[1]], total: 2, limit: 1, offset: 1 });
  });
});

describe("a definition", () => {
  const remove = (id: string) => home.owner("DELETE", `/definitions/${id}`);
  const refused = (answer: Awaited<ReturnType<typeof remove>>, why: RegExp) => {
    expectRefusal(answer, 409, "definition_in_use", "id");
    expect(answer.body.error.message).toMatch(why);
  };

  test("cannot be deleted while an enabled workflow uses it", async () => {
    const { id, definition } = await home.register();
    refused(await remove(definition.id), /registered as a workflow/);
    await home.owner("DELETE", `/workflows/${id}`);
    expect((await remove(definition.id)).status).toBe(204);
    expectRefusal(await remove(definition.id), 404, "definition_not_found", "id");
  });

  test("cannot be deleted while a run of it is live", async () => {
    const workflow = await home.register();
    const run = await home.start(workflow);
    await home.owner("DELETE", `/workflows/${workflow.id}`);
    refused(await remove(workflow.definition.id), /runs that have not ended/);
    await home.made(home.cancel(run));
    expect((await remove(workflow.definition.id)).status).toBe(204);
    expect((await home.owner("GET", `/workflows/${workflow.id}`)).body.runs).toEqual({ live: 0, total: 1 });
  });

  test("can be deleted when no workflow uses it", async () => {
    const { id } = await home.define();
    await home.register();
    expect((await remove(id)).status).toBe(204);
    expect((await list("?limit=500")).data.map((row: any) => row.id)).not.toContain(id);
  });
});
